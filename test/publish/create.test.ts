import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deepTest } from "../support/depth.ts";
import type { Fields } from "../support/graph/schema.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { startAlone } from "../support/publish/publish-alone.ts";
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

  deepTest("a printer becomes an app with every field of its page, its icon and its rules", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    await service.post("/clients", { name: "Contoso", subnets: "10.1.0.0/16" });
    const id = await service.addPrinter({ name: "Front Desk", client_id: "1", location: "Hall" });
    const png = await addIcon(service, id);

    const run = await publish(`/printers/${id}/publish`);

    const app = appOf(tenant, `printer:${id}`);
    const page = await (await service.fetch(`/printers/${id}`)).text();
    const script = async (kind: string) => (await service.fetch(`/printers/${id}/scripts/${kind}`)).text();
    const rules = (app.rules as Fields[]).map(({ ruleType, runAs32Bit, scriptContent }) => {
      return [ruleType, runAs32Bit, Buffer.from(String(scriptContent), "base64").toString()];
    });
    assert.deepEqual(resultRows(run), ["Front Desk (Contoso)  Created"]);
    for (const name of ["displayName", "description", "publisher", "displayVersion", "installCommandLine"])
      assert.ok(page.includes(`>${app[name]}<`), `the page has the same ${name}: ${app[name]}`);
    assert.deepEqual(rules, [
      ["detection", false, await script("detect")],
      ["requirement", false, await script("requirement")],
    ]);
    assert.deepEqual([run.code, (app.largeIcon as Fields).value], [0, png.toString("base64")]);
    assert.deepEqual(
      [app.allowedArchitectures, app.minimumSupportedWindowsRelease, app.publishingState],
      ["x64", "1607", "published"],
    );
  });

  test("the content that the tenant decrypts is the package that Platen offers", async (t) => {
    const { service, tenant, publish, id, path, app } = await startWithPrinter(t);

    await publish(path);

    const answer = await service.fetch(`/printers/${id}/packages/mdm`);
    const offered = Buffer.from(await answer.arrayBuffer()).toString("latin1");
    const digest = /<FileDigest>([^<]+)</.exec(offered)?.[1] ?? "";
    assert.equal(Buffer.from(digest, "base64").toString("hex"), tenant.content(app().id).sha256);
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

  deepTest("two printers with one driver become small apps that depend on the driver's app", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const [one, two] = await addSharedDriver(service);

    const run = await publish("/clients/1/publish");

    const driver = appOf(tenant, "driver:1").id;
    const printers = [one, two].map((id) => appOf(tenant, `printer:${id}`).id);
    assert.deepEqual([run.code, tenant.apps().length], [0, 3]);
    assert.deepEqual(
      printers.map((id) => tenant.children(id)),
      [[driver], [driver]],
    );
    assert.ok(tenant.content(driver).size > 0);
  });
});

describe("what publish.ps1 returns", { skip: withoutPowerShell }, () => {
  deepTest("-PassThru returns an object for each app, with what changed and how long it took", async (t) => {
    const { service, publish, path, id, app } = await startPublished(t);
    await editPrinter(service, id, { location: "Floor 2" });

    const { code, rows } = await publish(path, { PassThru: true });

    const [row, ...others] = rows;
    assert.deepEqual([code, others], [0, []]);
    assert.ok((row?.Seconds ?? 0) > 0);
    assert.deepEqual(
      { ...row, Seconds: 0, Tenant: "" },
      {
        ...{ Tenant: "", Client: "", Name: "Office", AppId: app().id, Result: "Updated", Seconds: 0 },
        ...{ Changed: ["Content", "Description", "Rules"], Reason: "" },
      },
    );
  });

  deepTest("-PassThru returns the same objects for new apps and with -WhatIf", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const [first = 0] = await addSharedDriver(service);
    const path = "/clients/1/publish";

    const created = await publish(path, { PassThru: true });
    await editPrinter(service, first, { location: "Floor 2" });
    const planned = await publish(path, { PassThru: true, WhatIf: true });

    const changes = planned.rows.map(({ Result, Changed }) => [Result, ...Changed].join()).toSorted();
    assert.deepEqual(
      new Set(created.rows.map(({ Result, AppId }) => `${Result} ${AppId}`)),
      new Set(["driver:1", "printer:1", "printer:2"].map((key) => `Created ${appOf(tenant, key).id}`)),
    );
    assert.deepEqual(changes, ["Pending,Content,Description,Rules", "Unchanged", "Unchanged"]);
    assert.deepEqual([created.code, planned.code], [0, 3]);
  });

  deepTest(
    "-AsJson writes one JSON array to STDOUT and all else to STDERR, also after a failure",
    async (t) => {
      const { tenant, script, path, app } = await startWithPrinter(t, {}, { name: "Łódź" });
      const text = await script(path);
      const { graphUrl, loginUrl, token } = tenant;
      const run = async (...more: string[]) => {
        const where = ["-GraphUrl", graphUrl, "-LoginUrl", loginUrl, "-AsJson"];
        return (await startAlone(t, text, [...where, ...more])).ended;
      };

      const planned = await run("-AccessToken", token, "-WhatIf");
      const created = await run("-AccessToken", token);
      const refused = await run("-AccessToken", "not a valid one");

      const rows = [planned, created, refused].map(({ stdout }) => JSON.parse(stdout));
      assert.deepEqual([planned.code, created.code, refused.code], [3, 0, 1]);
      assert.deepEqual(
        rows.map((list) => list.map(({ Result }: { Result: string }) => Result)),
        [["Pending"], ["Created"], ["Failed"]],
      );
      assert.equal(rows[1]?.[0]?.AppId, app().id);
      assert.deepEqual([rows[1]?.[0]?.Name, /^[\x00-\x7f]+$/.test(created.stdout)], ["Łódź", true]);
      assert.match(created.stderr, /Łódź - Created/);
    },
  );

  for (const given of [{ Confirm: true }, { Register: true, AccessToken: undefined }, { Remove: true }])
    test(`-AsJson refuses what would ask a question: -${Object.keys(given)[0]}`, async (t) => {
      const { tenant, publish, path } = await startWithPrinter(t);

      const run = await publish(path, { AsJson: true, ...given });

      assert.deepEqual([run.code, tenant.requests], [1, []]);
      assert.match(run.log, /-AsJson asks no questions/);
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
      else tenant.remove(appOf(tenant, "printer:1").id);
      tenant.fault({ method: "POST", path: /mobileApps$/, status: 400 });

      const run = await publish("/clients/1/publish", { PassThru: true });

      assert.deepEqual([run.code, run.rows.map(({ Result }) => Result).toSorted()], [code, results]);
      if (code === 1) assert.match(run.rows[1]?.Reason ?? "", /depends on .* which was not published/);
    });

  deepTest("printers that cannot be deployed are named, and the others are published", async (t) => {
    const { service, publish, published } = await startPublishing(t);
    await addSharedDriver(service);
    await published("/clients/1/publish");
    await service.post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.9" });

    const run = await publish("/clients/1/publish");

    assert.equal(run.code, 0);
    assert.match(resultRows(run).join("\n"), /^Bare +LeftOut +\S/m);
    assert.equal(resultRows(run).filter((row) => row.includes("Unchanged")).length, 3);
  });

  test("a log that cannot be written does not stop the run", async (t) => {
    const { script, run, path } = await startPublished(t);
    const text = await script(path, [["Open-Log (Get-LogPath $LogPath)", "Open-Log '/proc/none/a.log'"]]);

    const result = await run(text);

    assert.deepEqual([result.code, result.log], [0, ""]);
  });
});
