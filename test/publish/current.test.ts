import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { type Guarded, startGuarded } from "../support/access/guarded.ts";
import { navigation } from "../support/app.ts";
import { deepTest } from "../support/depth.ts";
import { startGraph } from "../support/graph/server.ts";
import type { Tenant } from "../support/graph/tenant.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { withShortPauses } from "../support/publish/publisher.ts";
import {
  addIcon,
  addSharedDriver,
  editPrinter,
  type Publishing,
  resultRows,
  sharedPublisher,
  startPublishing,
  startWithPrinter,
} from "../support/publish/publishing.ts";

const path = "/clients/1/publish";

describe("a script that was downloaded earlier", { skip: withoutPowerShell }, () => {
  const changes: Readonly<Record<string, (service: Publishing["service"]) => Promise<unknown>>> = {
    "another address": (service) => editPrinter(service, 1, { address: "10.0.0.99", port_name: "" }),
    "another name of the client": (service) => service.post("/clients/1", { name: "Fabrikam" }),
    "an icon": (service) => addIcon(service, 1),
    "a further printer": (service) =>
      service.addPrinter({ name: "Third", client_id: "1", driver_id: "1", address: "10.0.0.3" }),
    "a printer less": (service) => service.fetch("/printers/2", { method: "DELETE" }),
    "a printer that cannot be deployed": (service) =>
      service.post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.9" }),
  };
  for (const [name, change] of Object.entries(changes))
    test(`does nothing after ${name} in Platen, and says why`, async (t) => {
      const { service, tenant, script, run } = await startPublishing(t);
      await addSharedDriver(service);
      const text = await script(path);
      await change(service);

      const result = await run(text);

      assert.deepEqual([result.code, tenant.requests], [1, []]);
      assert.match(
        result.said,
        /Contoso: script of 20\d\d-\d\d-\d\d \d\d:\d\d UTC\nContoso - Failed: Platen has changed since this script was made\. Download the script again\./,
      );
    });

  test("runs if only other records have changed", async (t) => {
    const { service, script, run, published } = await startPublishing(t);
    await addSharedDriver(service);
    const text = await script(path);
    await published(path);
    await service.post("/clients", { name: "Other" });
    await service.addPrinter({ client_id: "2", driver_id: "1", name: "Elsewhere", address: "10.0.0.7" });

    const result = await run(text);

    assert.equal(result.code, 0);
    assert.ok(resultRows(result).every((row) => row.includes("Unchanged")));
  });

  test("says that its record was deleted", async (t) => {
    const { service, tenant, script, run, id, path } = await startWithPrinter(t);
    const text = await script(path);
    await service.fetch(`/printers/${id}`, { method: "DELETE" });

    const result = await run(text);

    assert.deepEqual([result.code, tenant.requests.length], [1, 0]);
    assert.match(
      result.said,
      /Failed: 'Office' was deleted in Platen\. Any other script removes its apps with -Remove\./,
    );
  });

  test("names findings to check in Platen", async (t) => {
    const { service, publish, published } = await startPublishing(t);
    await addSharedDriver(service, ["A", "B"]);
    await editPrinter(service, 1, { address: "10.0.0.2", port_name: "" });
    await published(path);

    const run = await publish(path);

    assert.match(run.said, /Note: [AB]: .*10\.0\.0\.2/);
  });
});

/** A service with sign-in and a printer, and a tenant in a simulated Graph. */
async function startWithSignIn(t: TestContext) {
  const guarded = await startGuarded(t);
  const tenant = (await startGraph(t)).tenant("guarded");
  return { ...guarded, tenant, id: await guarded.operator.addPrinter() };
}

const scriptOf = async ({ fetch }: Pick<Guarded["viewer"], "fetch">, path: string) =>
  (await fetch(path)).text();

/** Runs a script as it was downloaded, with the tenant's token. */
function run({ graphUrl, token }: Tenant, text: string, parameters: Record<string, unknown> = {}) {
  const given = { GraphUrl: graphUrl, AccessToken: token, ...parameters };
  return sharedPublisher().run(withShortPauses(text), given);
}

describe("publishing with sign-in", { skip: withoutPowerShell }, () => {
  test("a viewer's script downloads its package by a link, which is not in its log", async (t) => {
    const { viewer, tenant, id } = await startWithSignIn(t);
    const text = await scriptOf(viewer, `/printers/${id}/publish`);

    const result = await run(tenant, text);

    assert.deepEqual([result.code, result.errors, tenant.apps().length], [0, [], 1], result.said);
    assert.match(text, /\?link=/);
    assert.doesNotMatch(result.said + result.log, /link=/);
  });

  deepTest("a viewer's script for a client downloads all its packages by links", async (t) => {
    const { operator, viewer, tenant } = await startWithSignIn(t);
    await operator.post("/clients", { name: "Contoso" });
    const fields = { client_id: "1", driver_id: "1", address: "10.0.0.1" };
    for (const name of ["A", "B"]) await operator.post("/printers", { name, ...fields }, navigation);
    const text = await scriptOf(viewer, path);

    const result = await run(tenant, text);

    assert.deepEqual([result.code, result.errors, tenant.apps().length], [0, [], 3], result.said);
    assert.match(text, /\?driver=apart&link=/);
    assert.doesNotMatch(result.said + result.log, /link=/);
  });

  test("a script whose links have ended says so and names the remedy", async (t) => {
    const { operator, viewer, tenant, id } = await startWithSignIn(t);
    const text = await scriptOf(viewer, `/printers/${id}/publish`);
    await operator.post(`/printers/${id}/links/end`, {});

    const result = await run(tenant, text);

    assert.deepEqual([result.code, tenant.apps()], [1, []]);
    assert.match(
      result.said,
      /Platen no longer gives this script \(answer 403\)\. Open its page, and download the script again\./,
    );
    assert.doesNotMatch(result.said + result.log, /link=/);
  });

  deepTest("a script checks for changes by its link, also with -Remove", async (t) => {
    const { viewer, tenant, id } = await startWithSignIn(t);
    const text = await scriptOf(viewer, `/printers/${id}/publish`);

    const first = await run(tenant, text);
    const removed = await run(tenant, text, { Remove: true, Force: true });

    assert.deepEqual([first.code, removed.code], [0, 0], first.said);
    assert.ok(![first, removed].some(({ log, said }) => /link=/.test(log + said)));
  });

  test("the script of a token for one printer does not contain the ids of records, and removes nothing", async (t) => {
    const { addToken, bearer, tenant, id } = await startWithSignIn(t);
    const text = await scriptOf(bearer(await addToken(`printer:${id}`)), `/printers/${id}/publish`);

    const removed = await run(tenant, text, { Remove: true, Force: true });

    assert.equal(removed.code, 1);
    assert.match(removed.said, /-Remove needs a script from an account that sees all records of Platen/);
  });

  deepTest("the script of a token for one printer publishes it", async (t) => {
    const { addToken, bearer, tenant, id } = await startWithSignIn(t);
    const text = await scriptOf(bearer(await addToken(`printer:${id}`)), `/printers/${id}/publish`);

    const result = await run(tenant, text);

    assert.equal(result.code, 0, result.said);
  });
});
