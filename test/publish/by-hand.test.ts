import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { driverZip } from "../support/drivers/driver-zip.ts";
import type { Fields } from "../support/graph/schema.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { makePng } from "../support/printers/png.ts";
import {
  addIcon,
  addSharedDriver,
  appOf,
  changesIn,
  editPrinter,
  resultRows,
  startPublishing,
} from "../support/publish/publishing.ts";

const group = "11111111-2222-4333-8444-555555555555";

describe("changes that an administrator made in Intune", { skip: withoutPowerShell }, () => {
  test("changed fields stay and are named; -Force sets them", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    await publish(`/printers/${id}/publish`);
    const app = appOf(tenant, `printer:${id}`);
    const installExperience = { ...(app.installExperience as object), maxRunTimeInMinutes: 90 };
    tenant.change(app.id, { displayName: "The good printer", installExperience, owner: "Anna" });

    await editPrinter(service, id, { address: "10.0.0.55", port_name: "" });
    const kept = await publish(`/printers/${id}/publish`);
    const after = { ...tenant.app(app.id) };
    const forced = await publish(`/printers/${id}/publish`, { Force: true });

    assert.deepEqual([after.displayName, after.installExperience], ["The good printer", installExperience]);
    assert.match(resultRows(kept).join(), /kept as in Intune: Name, Install behavior \(-Force/);
    assert.match(resultRows(forced).join(), /Updated +Name, Install behavior$/);
    assert.deepEqual([tenant.app(app.id).displayName, tenant.app(app.id).owner], [app.displayName, "Anna"]);
  });

  test("notes, categories, assignments, additional rules and dependencies stay when everything else changes", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    await service.post("/clients", { name: "Contoso", subnets: "10.1.0.0/16" });
    const id = await service.addPrinter({ client_id: "1" });
    await publish(`/printers/${id}/publish`);
    const app = appOf(tenant, `printer:${id}`);
    const other = tenant.addApp({ displayName: "Reader" });
    const older = tenant.addApp({ displayName: "Older" });
    const rule = {
      "@odata.type": "#microsoft.graph.win32LobAppRegistryRule",
      ruleType: "requirement",
      check32BitOn64System: false,
      keyPath: "HKEY_LOCAL_MACHINE\\Software\\Contoso",
      valueName: "Site",
      operationType: "exists",
      operator: "notConfigured",
      comparisonValue: null,
    };
    tenant.change(app.id, {
      notes: `Ask Anna.\n${app.notes}\nSince 2026.`,
      rules: [...(app.rules as Fields[]), rule],
    });
    tenant.relate(app.id, other, "detect");
    tenant.relate(app.id, older, "replace");
    tenant.assign(app.id, group, "available");
    tenant.categorize(app.id, "Printers");

    await service.post("/clients/1", { name: "Fabrikam", subnets: "10.2.0.0/16" });
    await editPrinter(service, id, { address: "10.2.0.9", port_name: "" });
    const run = await publish(`/printers/${id}/publish`);

    const now = tenant.getApp(app.id);
    const rules = now.fields.rules as Fields[];
    assert.equal(run.code, 0);
    assert.match(
      String(now.fields.notes),
      /^Ask Anna\.\nplaten:[0-9a-f]{12}:printer:\d+ revision:[0-9a-f]{12} at:\d{8}T\d{6}Z set:\S+\nSince 2026\.$/,
    );
    assert.deepEqual(
      rules.map(({ ruleType }) => ruleType),
      ["detection", "requirement", "requirement"],
    );
    assert.deepEqual(tenant.children(app.id), [other, older]);
    assert.deepEqual([now.assignments.length, now.categories.length], [1, 1]);
  });

  test("an administrator's dependencies stay when the driver's is added", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const [id = 0] = await addSharedDriver(service, ["Front Desk"]);
    await publish("/clients/1/publish");
    const app = appOf(tenant, `printer:${id}`).id;
    const other = tenant.addApp({ displayName: "Reader" });
    const parent = tenant.addApp({ displayName: "Bundle" });
    tenant.relate(app, other, "autoInstall");
    tenant.relate(parent, app, "autoInstall");

    await service.addPrinter({ client_id: "1", driver_id: "1", name: "Second", address: "10.0.0.9" });
    const run = await publish("/clients/1/publish");

    assert.equal(run.code, 0, run.output.join("\n"));
    assert.deepEqual(tenant.children(app), [other, appOf(tenant, "driver:1").id]);
    assert.deepEqual(tenant.children(parent), [app]);
  });

  test("changes during the upload of the content stay", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    await addIcon(service, id);
    const value = makePng(64, 64).toString("base64");
    const icon = { "@odata.type": "#microsoft.graph.mimeContent", type: "image/png", value };
    const names: unknown[] = [];
    for (const displayName of ["While it was made", "While it was updated"]) {
      tenant.onRequest = async ({ area }) => {
        if (area !== "storage") return;
        tenant.onRequest = undefined;
        const { id: app, notes } = appOf(tenant, `printer:${id}`);
        tenant.change(app, { displayName, largeIcon: icon, notes: `${displayName}.\n${notes}` });
      };
      const run = await publish(`/printers/${id}/publish`);
      assert.equal(run.code, 0, run.output.join("\n"));
      names.push(appOf(tenant, `printer:${id}`).displayName);
      await editPrinter(service, id, { address: "10.0.0.88", port_name: "" });
    }

    const { notes, largeIcon } = appOf(tenant, `printer:${id}`);
    assert.deepEqual(names, ["While it was made", "While it was updated"]);
    assert.match(
      String(notes),
      /^While it was updated\.\nWhile it was made\.\nplaten:\S+ revision:[0-9a-f]{12} at:\S+ set:\S+$/,
    );
    assert.deepEqual(largeIcon, icon);
  });

  test("an administrator's relationships of other kinds to a driver's app stay", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const [id = 0] = await addSharedDriver(service);
    await publish("/clients/1/publish");
    await publish("/clients/1/publish", { Together: true });
    const driver = appOf(tenant, "driver:1").id;
    const other = String(await service.addDriver(driverZip({ version: "9.0.0.0" })));
    const alone = await service.addPrinter({ name: "Alone", driver_id: other });
    await publish(`/printers/${alone}/publish`);
    const [client, printer] = [appOf(tenant, "client:1").id, appOf(tenant, `printer:${alone}`).id];
    tenant.relate(client, driver, "autoInstall");
    tenant.relate(printer, driver, "replace");

    await publish(`/printers/${alone}/publish`);
    await publish("/clients/1/publish", { Together: true });

    assert.deepEqual([tenant.children(client), tenant.children(printer)], [[driver], [driver]]);
    assert.deepEqual(tenant.children(appOf(tenant, `printer:${id}`).id), [driver]);
  });

  test("an app with the same name that Platen did not make is not changed", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    const foreign = tenant.addApp({ displayName: "Office", notes: `platen:000000000000:printer:${id}` });
    const before = structuredClone(tenant.app(foreign));

    const run = await publish(`/printers/${id}/publish`);

    assert.deepEqual([run.code, tenant.apps().length], [0, 2]);
    assert.deepEqual(tenant.app(foreign), before);
  });

  test("an app that was made from the page's fields is found by its notes and updated", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    const page = await (await service.fetch(`/printers/${id}`)).text();
    const notes = /platen:[0-9a-f]{12}:printer:\d+ revision:[0-9a-f]{12}/.exec(page)?.[0];
    const made = tenant.addApp({ displayName: "Mine", notes, installCommandLine: "setup.exe /s" });

    const run = await publish(`/printers/${id}/publish`);

    assert.deepEqual([run.code, tenant.apps().length], [0, 1]);
    assert.deepEqual([tenant.app(made).displayName, tenant.app(made).fileName], ["Mine", "office.intunewin"]);
    assert.match(
      resultRows(run).join(),
      /^Mine +Updated +Content, .*Install command.*kept as in Intune: .*Name/,
    );
    assert.match(String(tenant.app(made).installCommandLine), /install\.ps1/);
  });

  test("two apps with the same marker stop the run, which names both and changes nothing", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    await publish(`/printers/${id}/publish`);
    const { notes } = appOf(tenant, `printer:${id}`);
    const second = tenant.addApp({ displayName: "A copy", notes });
    await editPrinter(service, id, { address: "10.0.0.55", port_name: "" });
    const since = tenant.requests.length;

    const run = await publish(`/printers/${id}/publish`);

    const said = run.output.join("\n");
    assert.deepEqual([run.code, changesIn(tenant, since)], [1, []]);
    assert.ok(said.includes("'A copy'") && said.includes("'Office'") && said.includes(second), said);
  });

  test("a changed detection rule is set again, because nothing is installed without it", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    await publish(`/printers/${id}/publish`);
    const app = appOf(tenant, `printer:${id}`);
    const [rule] = app.rules as Fields[];
    tenant.change(app.id, { rules: [{ ...rule, scriptContent: "ZXhpdCAw" }], fileName: "other.intunewin" });

    await publish(`/printers/${id}/publish`);

    assert.deepEqual(
      [tenant.app(app.id).rules, tenant.app(app.id).fileName],
      [app.rules, "office.intunewin"],
    );
  });
});
