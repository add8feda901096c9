import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deepTest } from "../support/depth.ts";
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
  startPublished,
  startPublishing,
  startWithPrinter,
} from "../support/publish/publishing.ts";

const group = "11111111-2222-4333-8444-555555555555";

describe("changes that an administrator made in Intune", { skip: withoutPowerShell }, () => {
  for (const Force of [false, true])
    test(`changed fields ${Force ? "are set with -Force" : "stay and are named"}`, async (t) => {
      const { service, tenant, publish, path, id, app } = await startPublished(t);
      const { displayName, installExperience } = app();
      const theirs = {
        displayName: "The good printer",
        installExperience: { ...(installExperience as object), maxRunTimeInMinutes: 90 },
      };
      tenant.change(app().id, { ...theirs, owner: "Anna" });
      if (!Force) await editPrinter(service, id, { address: "10.0.0.55", port_name: "" });

      const rows = resultRows(await publish(path, { Force })).join();

      const found = app();
      assert.deepEqual(
        { displayName: found.displayName, installExperience: found.installExperience },
        Force ? { displayName, installExperience } : theirs,
      );
      assert.match(
        rows,
        Force ? /Updated +Name, Install behavior$/ : /kept as in Intune: Name, Install behavior \(-Force/,
      );
      assert.equal(found.owner, "Anna");
    });

  deepTest(
    "notes, categories, assignments, additional rules and dependencies stay when all else changes",
    async (t) => {
      const { service, tenant, publish, published } = await startPublishing(t);
      await service.post("/clients", { name: "Contoso", subnets: "10.1.0.0/16" });
      const id = await service.addPrinter({ client_id: "1" });
      await published(`/printers/${id}/publish`);
      const app = appOf(tenant, `printer:${id}`);
      const [other, older] = [tenant.addApp(), tenant.addApp()];
      const rule = {
        "@odata.type": "#microsoft.graph.win32LobAppRegistryRule",
        ...{ ruleType: "requirement", check32BitOn64System: false, comparisonValue: null },
        ...{ keyPath: "HKEY_LOCAL_MACHINE\\Software\\Contoso", valueName: "Site" },
        ...{ operationType: "exists", operator: "notConfigured" },
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
      assert.equal(run.code, 0);
      assert.match(
        String(now.fields.notes),
        /^Ask Anna\.\nplaten:[0-9a-f]{12}:printer:\d+ revision:[0-9a-f]{12} at:\d{8}T\d{6}Z set:\S+\nSince 2026\.$/,
      );
      assert.deepEqual(
        (now.fields.rules as Fields[]).map(({ ruleType }) => ruleType),
        ["detection", "requirement", "requirement"],
      );
      assert.deepEqual(tenant.children(app.id), [other, older]);
      assert.deepEqual([now.assignments.length, now.categories.length], [1, 1]);
    },
  );

  deepTest("an administrator's dependencies stay when the driver's is added", async (t) => {
    const { service, tenant, publish, published } = await startPublishing(t);
    const [id = 0] = await addSharedDriver(service, ["Front Desk"]);
    await published("/clients/1/publish");
    const app = appOf(tenant, `printer:${id}`).id;
    const [other, parent] = [tenant.addApp(), tenant.addApp()];
    tenant.relate(app, other, "autoInstall");
    tenant.relate(parent, app, "autoInstall");
    await service.addPrinter({ client_id: "1", driver_id: "1", name: "Second", address: "10.0.0.9" });
    await published("/drivers/1/publish");

    const run = await publish(`/printers/${id}/publish`);

    assert.equal(run.code, 0, run.said);
    assert.deepEqual(tenant.children(app), [other, appOf(tenant, "driver:1").id]);
    assert.deepEqual(tenant.children(parent), [app]);
  });

  for (const isNew of [true, false])
    test(`changes during the upload of ${isNew ? "a new app's" : "an app's new"} content stay`, async (t) => {
      const { service, tenant, publish, published, path, id, app } = await startWithPrinter(t);
      await addIcon(service, id);
      if (!isNew) await published(path);
      await editPrinter(service, id, { address: "10.0.0.88", port_name: "" });
      const value = makePng(64, 64).toString("base64");
      const largeIcon = { "@odata.type": "#microsoft.graph.mimeContent", type: "image/png", value };
      tenant.onRequest = async ({ area }) => {
        if (area !== "storage") return;
        tenant.onRequest = undefined;
        tenant.change(app().id, { displayName: "Mine", largeIcon, notes: `Mine.\n${app().notes}` });
      };

      const run = await publish(path);

      assert.deepEqual([run.code, app().displayName], [0, "Mine"], run.said);
      assert.match(String(app().notes), /^Mine\.\nplaten:\S+ revision:[0-9a-f]{12} at:\S+ set:\S+$/);
      assert.deepEqual(app().largeIcon, largeIcon);
    });

  test("an administrator's supersedence of a driver's app stays", async (t) => {
    const { service, tenant, publish, published } = await startPublishing(t);
    await addSharedDriver(service);
    await published("/drivers/1/publish");
    const driver = appOf(tenant, "driver:1").id;
    const driver_id = String(await service.addDriver(driverZip({ version: "9.0.0.0" })));
    const alone = await service.addPrinter({ name: "Alone", driver_id });
    await published(`/printers/${alone}/publish`);
    const printer = appOf(tenant, `printer:${alone}`).id;
    tenant.relate(printer, driver, "replace");

    const run = await publish(`/printers/${alone}/publish`);

    assert.deepEqual([run.code, tenant.children(printer)], [0, [driver]]);
  });

  test("an administrator's dependency of a client's app on a driver's app stays", async (t) => {
    const { service, tenant, publish, published } = await startPublishing(t);
    await addSharedDriver(service);
    await published("/drivers/1/publish");
    await published("/clients/1/publish", { together: true });
    const [client, driver] = [appOf(tenant, "client:1").id, appOf(tenant, "driver:1").id];
    tenant.relate(client, driver, "autoInstall");

    const run = await publish("/clients/1/publish", { Together: true });

    assert.deepEqual([run.code, tenant.children(client)], [0, [driver]]);
  });

  test("an app with the same name that Platen did not make is not changed", async (t) => {
    const { tenant, publish, path, id } = await startWithPrinter(t);
    const foreign = tenant.addApp({ displayName: "Office", notes: `platen:000000000000:printer:${id}` });
    const before = structuredClone(tenant.app(foreign));

    const run = await publish(path);

    assert.deepEqual([run.code, tenant.apps().length], [0, 2]);
    assert.deepEqual(tenant.app(foreign), before);
  });

  test("an app that was made from the page's fields is found by its notes and updated", async (t) => {
    const { service, tenant, publish, path, id } = await startWithPrinter(t);
    const page = await (await service.fetch(`/printers/${id}`)).text();
    const notes = /platen:[0-9a-f]{12}:printer:\d+ revision:[0-9a-f]{12}/.exec(page)?.[0];
    const made = tenant.addApp({ displayName: "Mine", notes, installCommandLine: "setup.exe /s" });

    const run = await publish(path);

    assert.deepEqual([run.code, tenant.apps().length], [0, 1]);
    assert.deepEqual([tenant.app(made).displayName, tenant.app(made).fileName], ["Mine", "office.intunewin"]);
    assert.match(
      resultRows(run).join(),
      /^Mine +Updated +Content, .*Install command.*kept as in Intune: .*Name/,
    );
    assert.match(String(tenant.app(made).installCommandLine), /install\.ps1/);
  });

  test("two apps with the same marker stop the run, which names both and changes nothing", async (t) => {
    const { service, tenant, publish, path, id, app } = await startPublished(t);
    const second = tenant.addApp({
      displayName: "A\u001b[2Jcopy\u0007\r\nFailed: nothing",
      notes: app().notes,
    });
    await editPrinter(service, id, { address: "10.0.0.55", port_name: "" });

    const { code, output, said } = await publish(path);

    assert.deepEqual([code, changesIn(tenant)], [1, []]);
    assert.ok(/'A.+copy/.test(said) && said.includes("'Office'") && said.includes(second), said);
    // Texts of Intune are escaped for the terminal.
    assert.ok(
      output.every((line) => !/[\u0000-\u001f\u007f]/.test(line) && !line.startsWith("Failed:")),
      said,
    );
  });

  test("a changed detection rule is set again, because nothing is installed without it", async (t) => {
    const { tenant, publish, path, app } = await startPublished(t);
    const { id, rules } = app();
    const [rule] = rules as Fields[];
    tenant.change(id, { rules: [{ ...rule, scriptContent: "ZXhpdCAw" }], fileName: "other.intunewin" });

    await publish(path);

    assert.deepEqual([app().rules, app().fileName], [rules, "office.intunewin"]);
  });
});
