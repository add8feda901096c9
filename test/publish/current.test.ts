import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import type { TestApp } from "../support/app.ts";
import { startGraph } from "../support/graph/server.ts";
import type { Tenant } from "../support/graph/tenant.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { forTests } from "../support/publish/publisher.ts";
import {
  addIcon,
  addSharedDriver,
  editPrinter,
  resultRows,
  sharedPublisher,
  startPublishing,
  startWithPrinter,
} from "../support/publish/publishing.ts";

const path = "/clients/1/publish";

describe("a script that was downloaded earlier", { skip: withoutPowerShell }, () => {
  test("is out of date after any change of what it publishes, which the ETag of its address says", async (t) => {
    const { service } = await startPublishing(t);
    await addSharedDriver(service);
    const { post, addPrinter } = service;
    const third = { name: "Third", client_id: "1", driver_id: "1", address: "10.0.0.3" };
    const changes: Readonly<Record<string, (app: TestApp) => Promise<unknown>>> = {
      "another address": (app) => editPrinter(app, 1, { address: "10.0.0.99", port_name: "" }),
      "another name of the client": () => post("/clients/1", { name: "Fabrikam" }),
      "an icon": (app) => addIcon(app, 1),
      "a further printer": () => addPrinter(third),
      "a printer less": ({ fetch }) => fetch("/printers/2", { method: "DELETE" }),
      "a printer that cannot be deployed": () =>
        post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.9" }),
    };
    /** `publish-<the script's bytes>-<apps>-<records>` */
    const tag = async () => (await service.fetch(path)).headers.get("etag")?.split("-")[2];

    for (const [name, change] of Object.entries(changes)) {
      const before = await tag();
      await change(service);
      assert.notEqual(await tag(), before, name);
    }
  });

  test("does nothing after a change in Platen, and says why", async (t) => {
    const { service, tenant, script, run, id, path } = await startWithPrinter(t);
    const text = await script(path);
    await editPrinter(service, id, { address: "10.0.0.99", port_name: "" });

    const result = await run(text);

    assert.deepEqual([result.code, tenant.requests], [1, []]);
    assert.match(
      result.said,
      /Office: script of 20\d\d-\d\d-\d\d \d\d:\d\d UTC\nOffice - Failed: Platen has changed since this script was made\. Download the script again\./,
    );
  });

  test("runs if only other records have changed, and names findings and printers that it leaves out", async (t) => {
    const { service, script, run, published } = await startPublishing(t);
    await addSharedDriver(service, ["A", "B"]);
    await editPrinter(service, 1, { address: "10.0.0.2", port_name: "" });
    await service.post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.9" });
    const text = await script(path);
    await published(path);
    await service.post("/clients", { name: "Other" });
    await service.addPrinter({ client_id: "2", driver_id: "1", name: "Elsewhere", address: "10.0.0.7" });

    const result = await run(text);

    const [left = "", ...others] = resultRows(result);
    assert.deepEqual([result.code, others.length], [0, 3]);
    assert.match(left, /^Bare +LeftOut +\S/);
    assert.ok(others.every((row) => row.includes("Unchanged")));
    assert.match(result.said, /Note: [AB]: .*10\.0\.0\.2/);
  });

  test("says that its record was deleted", async (t) => {
    const { service, tenant, script, run, id, path } = await startWithPrinter(t);
    const text = await script(path);
    await service.fetch(`/printers/${id}`, { method: "DELETE" });

    const result = await run(text);

    assert.deepEqual([result.code, tenant.requests.length], [1, 0]);
    const why = /Failed: 'Office' was deleted in Platen\. Any other script removes its apps with -Remove\./;
    assert.match(result.said, why);
  });
});

/** A service with sign-in and a printer, and a tenant in a simulated Graph. */
async function startWithSignIn(t: TestContext) {
  const guarded = await startGuarded(t);
  const tenant = (await startGraph(t)).tenant("guarded");
  return { ...guarded, tenant, path: `/printers/${await guarded.operator.addPrinter()}` };
}

/** Runs a script as it was downloaded, with the tenant's token. */
async function run({ graphUrl, token }: Tenant, text: string, parameters: Record<string, unknown> = {}) {
  const given = { GraphUrl: graphUrl, AccessToken: token, ...parameters };
  const result = await sharedPublisher().run(forTests(text), given);
  assert.doesNotMatch(result.said + result.log, /link=/);
  return result;
}

describe("publishing with sign-in", { skip: withoutPowerShell }, () => {
  test("a viewer's script downloads its package by a link, which is not in its log", async (t) => {
    const { viewer, tenant, path } = await startWithSignIn(t);
    const text = await (await viewer.fetch(`${path}/publish`)).text();

    const result = await run(tenant, text);

    assert.deepEqual([result.code, result.errors, tenant.apps().length], [0, [], 1], result.said);
    assert.match(text, /\?link=/);
  });

  test("a script whose links have ended says so and names the remedy", async (t) => {
    const { operator, viewer, tenant, path } = await startWithSignIn(t);
    const text = await (await viewer.fetch(`${path}/publish`)).text();
    await operator.post(`${path}/links/end`, {});

    const result = await run(tenant, text);

    assert.deepEqual([result.code, tenant.apps()], [1, []]);
    const why =
      /Platen no longer gives this script \(answer 403\)\. Open its page, and download the script again\./;
    assert.match(result.said, why);
  });

  test("the script of a token for one printer does not contain the ids of records, and removes nothing", async (t) => {
    const { addToken, bearer, tenant, path } = await startWithSignIn(t);
    const sender = bearer(await addToken(`printer:${path.slice("/printers/".length)}`));
    const text = await (await sender.fetch(`${path}/publish`)).text();

    const removed = await run(tenant, text, { Remove: true, Force: true });

    assert.equal(removed.code, 1);
    assert.match(removed.said, /-Remove needs a script from an account that sees all records of Platen/);
  });
});
