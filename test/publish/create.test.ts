import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import type { TestApp } from "../support/app.ts";
import { deepTest } from "../support/depth.ts";
import type { Fields } from "../support/graph/schema.ts";
import { startGraph } from "../support/graph/server.ts";
import type { Tenant } from "../support/graph/tenant.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { startAlone } from "../support/publish/publish-alone.ts";
import { forTests } from "../support/publish/publisher.ts";
import {
  addIcon,
  addSharedDriver,
  appOf,
  changesIn,
  checkRun,
  editPrinter,
  resultRows,
  sharedPublisher,
  startPublished,
  startPublishing,
  startWithPrinter,
} from "../support/publish/publishing.ts";

describe("publishing new apps", { skip: withoutPowerShell }, () => {
  test("the script as it is served publishes a printer", async (t) => {
    const { service, tenant, path, app } = await startWithPrinter(t);
    const text = await (await service.fetch(path)).text();

    const given = { GraphUrl: tenant.graphUrl, AccessToken: tenant.token };
    const run = await sharedPublisher().run(text, given, {}, "as served");

    checkRun(tenant, run);
    assert.equal(run.code, 0, run.said);
    assert.match(run.said, /Office +Created/);
    assert.ok(tenant.content(app().id).size > 1000);
  });

  test("a printer becomes an app with every field of its page, its icon, its rules and Platen's package", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const text = async (path: string) => (await service.fetch(path)).text();
    await service.post("/clients", { name: "Contoso", subnets: "10.1.0.0/16" });
    const id = await service.addPrinter({ name: "Front Desk", client_id: "1", location: "Hall" });
    const png = await addIcon(service, id);

    const run = await publish(`/printers/${id}/publish`, { PassThru: true });

    const app = appOf(tenant, `printer:${id}`);
    const page = await text(`/printers/${id}`);
    const rules = (app.rules as Fields[]).map(({ ruleType, runAs32Bit, scriptContent }) => {
      return [ruleType, runAs32Bit, Buffer.from(String(scriptContent), "base64").toString()];
    });
    assert.deepEqual([run.code, resultRows(run)], [0, ["Front Desk (Contoso)  Created"]]);
    assert.deepEqual([run.rows[0]?.Result, run.rows[0]?.AppId], ["Created", app.id]);
    for (const name of ["displayName", "description", "publisher", "displayVersion", "installCommandLine"])
      assert.ok(page.includes(`>${app[name]}<`), `the page has the same ${name}: ${app[name]}`);
    assert.deepEqual(rules, [
      ["detection", false, await text(`/printers/${id}/scripts/detect`)],
      ["requirement", false, await text(`/printers/${id}/scripts/requirement`)],
    ]);
    const { allowedArchitectures, minimumSupportedWindowsRelease, publishingState, largeIcon } = app;
    const facts = [allowedArchitectures, minimumSupportedWindowsRelease, publishingState];
    assert.deepEqual(facts, ["x64", "1607", "published"]);
    assert.equal((largeIcon as Fields).value, png.toString("base64"));
    const digest = /<FileDigest>([^<]+)</.exec(await text(`/printers/${id}/packages/mdm`))?.[1] ?? "";
    assert.equal(Buffer.from(digest, "base64").toString("hex"), tenant.content(app.id).sha256);
  });

  test("a second run only reads, even if a name looks like a date", async (t) => {
    const name = "2026-01-01T08:00:00+01:00";
    const { service, tenant, publish, published, path, id } = await startWithPrinter(t, {}, { name });
    await addIcon(service, id);
    await published(path);

    const second = await publish(path);

    assert.deepEqual([second.code, changesIn(tenant)], [0, []]);
    assert.match(resultRows(second).join(), /Unchanged/);
  });

  test("a printer that shares its driver becomes a small app that depends on the driver's app", async (t) => {
    const { service, tenant, addTenant, publish, published } = await startPublishing(t);
    const [one] = await addSharedDriver(service);
    await published("/drivers/1/publish");
    const driver = appOf(tenant, "driver:1").id;

    const run = await publish(`/printers/${one}/publish`);

    const app = appOf(tenant, `printer:${one}`);
    assert.deepEqual([run.code, tenant.apps().length, tenant.children(app.id)], [0, 2, [driver]]);
    // Other tests start from what a run leaves.
    const before = addTenant("before");
    await published(`/printers/${one}/publish`, { tenant: before });
    const changing = { id: "", createdDateTime: "", lastModifiedDateTime: "", size: 0 };
    const same = appOf(before, `printer:${one}`);
    assert.deepEqual({ ...same, ...changing }, { ...app, ...changing });
    assert.deepEqual(before.children(same.id), [appOf(before, "driver:1").id]);
  });
});

describe("what publish.ps1 returns", { skip: withoutPowerShell }, () => {
  test("-AsJson writes one JSON array to STDOUT, in ASCII, and nothing else, also with -WhatIf", async (t) => {
    const { service, publish, path, id, app } = await startPublished(t, {}, { name: "Łódź" });
    await editPrinter(service, id, { location: "Floor 2" });

    const run = await publish(path, { AsJson: true, WhatIf: true });

    const [{ Name, AppId, Result, Changed }, ...others] = JSON.parse(run.said);
    assert.deepEqual([run.code, Name, AppId, Result, others], [3, "Łódź", app().id, "Pending", []]);
    assert.deepEqual(Changed, ["Content", "Description", "Rules"]);
    assert.match(run.said, /^[\x00-\x7f]+$/);
  });

  deepTest("-AsJson writes all else to STDERR, also after a failure", async (t) => {
    const { tenant, script, path } = await startWithPrinter(t, {}, { name: "Łódź" });
    const text = await script(path);
    const { graphUrl, loginUrl, token } = tenant;
    const run = async (...more: string[]) => {
      const where = ["-GraphUrl", graphUrl, "-LoginUrl", loginUrl, "-AsJson"];
      return (await startAlone(t, text, [...where, ...more])).ended;
    };

    const planned = await run("-AccessToken", token, "-WhatIf");
    const created = await run("-AccessToken", token);
    const refused = await run("-AccessToken", "not a valid one");

    const results = [planned, created, refused].map(({ code, stdout }) => [
      code,
      JSON.parse(stdout)[0].Result,
    ]);
    assert.deepEqual(results, [
      [3, "Pending"],
      [0, "Created"],
      [1, "Failed"],
    ]);
    assert.match(created.stderr, /Łódź - Created/);
  });

  for (const [code, results] of [
    [1, ["Failed", "Failed", "Failed"]],
    [2, ["Failed", "Unchanged", "Unchanged"]],
  ] as const)
    test(`the exit code is ${code} if the results are ${results.join(", ")}`, async (t) => {
      const { service, tenant, publish, published } = await startPublishing(t);
      await addSharedDriver(service);
      await published("/clients/1/publish");
      if (code === 1) tenant.clear();
      else tenant.state.apps.delete(appOf(tenant, "printer:1").id);
      tenant.fault({ method: "POST", path: /mobileApps$/, status: 400 });

      const run = await publish("/clients/1/publish", { PassThru: true });

      assert.deepEqual([run.code, run.rows.map(({ Result }) => Result).toSorted()], [code, results]);
      if (code === 1) assert.match(run.rows[1]?.Reason ?? "", /depends on .* which was not published/);
    });

  test("a log that cannot be written does not stop the run", async (t) => {
    const { publish, path } = await startPublished(t);
    const takePlace =
      "$null = [IO.Directory]::CreateDirectory([IO.Path]::Combine($request.Folder, 'publish.log'))";

    const run = await publish(path, { Before: { Block: takePlace } });

    assert.deepEqual([run.code, run.log], [0, ""]);
    assert.match(run.said, /There is no log, because it cannot be written/);
  });
});

const ofClient = "/clients/1/publish";

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
    const tag = async () => (await service.fetch(ofClient)).headers.get("etag")?.split("-")[2];

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
    const text = await script(ofClient);
    await published(ofClient);
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
async function runAs({ graphUrl, token }: Tenant, text: string, parameters: Record<string, unknown> = {}) {
  const given = { GraphUrl: graphUrl, AccessToken: token, ...parameters };
  const result = await sharedPublisher().run(forTests(text), given);
  assert.doesNotMatch(result.said + result.log, /link=/);
  return result;
}

describe("publishing with sign-in", { skip: withoutPowerShell }, () => {
  test("a viewer's script downloads its package by a link, which is not in its log", async (t) => {
    const { viewer, tenant, path } = await startWithSignIn(t);
    const text = await (await viewer.fetch(`${path}/publish`)).text();

    const result = await runAs(tenant, text);

    assert.deepEqual([result.code, result.errors, tenant.apps().length], [0, [], 1], result.said);
    assert.match(text, /\?link=/);
  });

  test("a script whose links have ended says so and names the remedy", async (t) => {
    const { operator, viewer, tenant, path } = await startWithSignIn(t);
    const text = await (await viewer.fetch(`${path}/publish`)).text();
    await operator.post(`${path}/links/end`, {});

    const result = await runAs(tenant, text);

    assert.deepEqual([result.code, tenant.apps()], [1, []]);
    const why =
      /Platen no longer gives this script \(answer 403\)\. Open its page, and download the script again\./;
    assert.match(result.said, why);
  });

  test("the script of a token for one printer does not contain the ids of records, and removes nothing", async (t) => {
    const { addToken, bearer, tenant, path } = await startWithSignIn(t);
    const sender = bearer(await addToken(`printer:${path.slice("/printers/".length)}`));
    const text = await (await sender.fetch(`${path}/publish`)).text();

    const removed = await runAs(tenant, text, { Remove: true, Force: true });

    assert.equal(removed.code, 1);
    assert.match(removed.said, /-Remove needs a script from an account that sees all records of Platen/);
  });
});
