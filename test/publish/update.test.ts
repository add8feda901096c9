import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deepTest } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import type { Fields } from "../support/graph/schema.ts";
import type { Tenant } from "../support/graph/tenant.ts";
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

const upload = [
  // The lease.
  "PATCH mobileApps/{id}",
  "POST mobileApps/{id}/contentVersions",
  "POST mobileApps/{id}/contentVersions/2/files",
  "PUT storage",
  "PUT storage",
  "POST mobileApps/{id}/contentVersions/2/files/{id}/commit",
  "PATCH mobileApps/{id}",
];

/** The fields in the last PATCH. */
function lastPatch({ requests }: Tenant): string[] {
  const { body } = requests.findLast(({ method }) => method === "PATCH") ?? {};
  return Object.keys(body as object).sort();
}

const picture = (value: string) => ({
  "@odata.type": "#microsoft.graph.mimeContent",
  type: "image/png",
  value,
});

describe("updating existing apps", { skip: withoutPowerShell }, () => {
  test("a new address makes a new package, content and detection change together, and -PassThru says so", async (t) => {
    const { service, tenant, publish, path, id, app } = await startPublished(t);
    const { rules } = app();
    await editPrinter(service, id, { address: "10.0.0.77", port_name: "" });

    const run = await publish(path, { PassThru: true });

    const fields = ["@odata.type", "committedContentVersion", "fileName", "notes", "rules", "setupFilePath"];
    assert.deepEqual(changesIn(tenant), upload);
    assert.deepEqual(lastPatch(tenant), fields);
    assert.deepEqual([run.code, app().committedContentVersion], [0, "2"]);
    assert.notDeepEqual(app().rules, rules);
    assert.match(resultRows(run).join(), /Updated +Content, Rules$/);
    const [{ Seconds, ...row } = { Seconds: 0 }, ...others] = run.rows;
    const expected = { Tenant: "organizations", Client: "", Name: "Office", AppId: app().id };
    assert.deepEqual(row, { ...expected, Result: "Updated", Changed: ["Content", "Rules"], Reason: "" });
    assert.ok(Seconds > 0 && others.length === 0);
  });

  for (const isDeleted of [false, true])
    test(`${isDeleted ? "a deleted icon is removed" : "a new icon is sent"} without uploading content`, async (t) => {
      const { service, tenant, publish, published, path, id, app } = await startWithPrinter(t);
      await addIcon(service, id);
      await published(path);
      const png = await addIcon(service, id, 99);
      if (isDeleted) await service.fetch(`/printers/${id}/icon`, { method: "DELETE" });

      const run = await publish(path);

      assert.deepEqual([run.code, changesIn(tenant)], [0, ["PATCH mobileApps/{id}"]]);
      assert.deepEqual(lastPatch(tenant), ["@odata.type", "largeIcon", "notes"]);
      const { value } = (app().largeIcon ?? {}) as Fields;
      assert.equal(value, isDeleted ? undefined : png.toString("base64"));
    });

  test("a new name changes only a field if the package stays the same", async (t) => {
    const { service, tenant, publish, published } = await startPublishing(t);
    await service.post("/clients", { name: "Contoso" });
    const id = await service.addPrinter({ client_id: "1" });
    await published(`/printers/${id}/publish`);
    await service.post("/clients/1", { name: "Fabrikam" });

    const run = await publish(`/printers/${id}/publish`);

    assert.deepEqual(changesIn(tenant), ["PATCH mobileApps/{id}"]);
    assert.deepEqual(lastPatch(tenant), ["@odata.type", "description", "displayName", "fileName", "notes"]);
    assert.equal(appOf(tenant, `printer:${id}`).displayName, "Office (Fabrikam)");
    assert.match(resultRows(run).join(), /Updated +Description, Name, App package file$/);
  });

  deepTest(
    "a printer keeps its app and an administrator's dependencies when it starts to share its driver",
    async (t) => {
      const { service, tenant, publish, published } = await startPublishing(t);
      const [first] = await addSharedDriver(service, ["Front Desk"]);
      await published("/clients/1/publish");
      const { id } = appOf(tenant, `printer:${first}`);
      const [other, parent] = [tenant.addApp(), tenant.addApp()];
      tenant.relate(id, other, "autoInstall");
      tenant.relate(parent, id, "autoInstall");
      await service.addPrinter({ client_id: "1", driver_id: "1", name: "Second", address: "10.0.0.9" });

      const run = await publish("/clients/1/publish");

      const children = [tenant.children(id), tenant.children(parent)];
      assert.equal(run.code, 0, run.said);
      assert.deepEqual(children, [[other, appOf(tenant, "driver:1").id], [id]]);
      assert.equal(resultRows(run).filter((row) => / (Created|Updated)/.test(row)).length, 3);
    },
  );

  test("a printer that no longer shares its driver keeps its app, which depends on what an administrator added alone", async (t) => {
    const { service, tenant, publish, published } = await startPublishing(t);
    const [first, second] = await addSharedDriver(service);
    await published("/clients/1/publish");
    const { id } = appOf(tenant, `printer:${first}`);
    const other = tenant.addApp();
    tenant.relate(id, other, "autoInstall");
    await service.fetch(`/printers/${second}`, { method: "DELETE" });

    const run = await publish("/clients/1/publish");

    assert.deepEqual([run.code, appOf(tenant, `printer:${first}`).id, tenant.children(id)], [0, id, [other]]);
    // The small package was 7 bytes.
    assert.ok(tenant.content(id).size > 1000);
  });

  deepTest("a newer driver is new content for the driver's app, and the printers are updated", async (t) => {
    const { service, tenant, publish, published } = await startPublishing(t);
    await addSharedDriver(service);
    await published("/clients/1/publish");
    const newer = await service.addDriver(driverZip({ models: ["Papyrus 100 PCL6"], version: "9.0.0.0" }));
    for (const id of [1, 2]) await editPrinter(service, id, { driver_id: String(newer) });

    const run = await publish("/clients/1/publish");

    const driver = appOf(tenant, `driver:${newer}`).id;
    const children = [1, 2].map((id) => tenant.children(appOf(tenant, `printer:${id}`).id));
    assert.equal(run.code, 0);
    assert.deepEqual(children, [[driver], [driver]]);
    assert.ok(run.said.includes(`Note: no app depends on '${appOf(tenant, "driver:1").displayName}'`));
  });
});

describe("changes that an administrator made in Intune", { skip: withoutPowerShell }, () => {
  test("fields, notes, rules, relationships, assignments and categories stay when all else changes", async (t) => {
    const { service, tenant, publish, published } = await startPublishing(t);
    await service.post("/clients", { name: "Contoso", subnets: "10.1.0.0/16" });
    const path = `/printers/${await service.addPrinter({ client_id: "1" })}/publish`;
    await published(path);
    const { id, rules, notes, installExperience } = appOf(tenant, "printer:1");
    const rule = { "@odata.type": "#microsoft.graph.win32LobAppRegistryRule", ruleType: "requirement" };
    const longer = { ...(installExperience as object), maxRunTimeInMinutes: 90 };
    const theirs = { displayName: "The good printer", installExperience: longer, owner: "Anna" };
    tenant.change(id, {
      ...theirs,
      rules: [...(rules as Fields[]), rule],
      notes: `Ask Anna.\n${notes}\nSince 2026.`,
    });
    const ofDriver = String(notes).replace(":printer:1 ", ":driver:9 ");
    const [other, older] = [tenant.addApp(), tenant.addApp({ notes: ofDriver })];
    tenant.relate(id, other, "detect");
    tenant.relate(id, older, "replace");
    tenant.assign(id, "11111111-2222-4333-8444-555555555555", "available");
    tenant.getApp(id).categories.push({ id: "c1", displayName: "Printers" });
    await service.post("/clients/1", { name: "Fabrikam", subnets: "10.2.0.0/16" });
    await editPrinter(service, 1, { address: "10.2.0.9", port_name: "" });

    const run = await publish(path);

    const { fields, assignments, categories } = tenant.getApp(id);
    const kept = { displayName: fields.displayName, installExperience: fields.installExperience };
    assert.deepEqual({ ...kept, owner: fields.owner }, theirs, run.said);
    assert.match(resultRows(run).join(), /kept as in Intune: Name, Install behavior \(-Force/);
    assert.match(
      String(fields.notes),
      /^Ask Anna\.\nplaten:[0-9a-f]{12}:printer:1 revision:[0-9a-f]{12} at:\d{8}T\d{6}Z set:\S+\nSince 2026\.$/,
    );
    const types = (fields.rules as Fields[]).map(({ ruleType }) => ruleType);
    assert.deepEqual(types, ["detection", "requirement", "requirement"]);
    assert.deepEqual(tenant.children(id), [other, older]);
    assert.deepEqual([run.code, assignments.length, categories.length], [0, 1, 1]);
  });

  test("changed fields are set with -Force", async (t) => {
    const { tenant, publish, path, app } = await startPublished(t);
    const { id, displayName, installExperience } = app();
    const longer = { ...(installExperience as object), maxRunTimeInMinutes: 90 };
    tenant.change(id, { displayName: "The good printer", installExperience: longer, owner: "Anna" });

    const run = await publish(path, { Force: true });

    const found = app();
    const set = [found.displayName, found.installExperience, found.owner];
    assert.deepEqual(set, [displayName, installExperience, "Anna"]);
    assert.match(resultRows(run).join(), /Updated +Name, Install behavior$/);
  });

  for (const isNew of [true, false])
    test(`changes during the upload of ${isNew ? "a new app's" : "an app's new"} content stay`, async (t) => {
      const { service, tenant, publish, published, path, id, app } = await startWithPrinter(t);
      await addIcon(service, id);
      if (!isNew) await published(path);
      await editPrinter(service, id, { address: "10.0.0.88", port_name: "" });
      const largeIcon = picture(makePng(64, 64).toString("base64"));
      tenant.onRequest = ({ area }) => {
        if (area !== "storage") return;
        tenant.onRequest = undefined;
        tenant.change(app().id, { displayName: "Mine", largeIcon, notes: `Mine.\n${app().notes}` });
      };

      const run = await publish(path);

      assert.deepEqual([run.code, app().displayName], [0, "Mine"], run.said);
      assert.match(String(app().notes), /^Mine\.\nplaten:\S+ revision:[0-9a-f]{12} at:\S+ set:\S+$/);
      assert.deepEqual(app().largeIcon, largeIcon);
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

  test("an app that was made from the page's fields is found by its notes and updated", async (t) => {
    const { service, tenant, publish, path, id } = await startWithPrinter(t);
    const page = await (await service.fetch(`/printers/${id}`)).text();
    const notes = /platen:[0-9a-f]{12}:printer:\d+ revision:[0-9a-f]{12}/.exec(page)?.[0];
    const made = tenant.addApp({ displayName: "Mine", notes, installCommandLine: "setup.exe /s" });

    const run = await publish(path);

    const { displayName, fileName, installCommandLine } = tenant.app(made);
    assert.deepEqual([run.code, tenant.apps().length], [0, 1]);
    assert.deepEqual([displayName, fileName], ["Mine", "office.intunewin"]);
    const row = /^Mine +Updated +Content, .*Install command.*kept as in Intune: .*Name/;
    assert.match(resultRows(run).join(), row);
    assert.match(String(installCommandLine), /install\.ps1/);
  });

  test("two apps with the same marker stop the run, which names both and changes nothing", async (t) => {
    const { service, tenant, publish, path, id, app } = await startPublished(t);
    const displayName = "A\u001b[2Jcopy\u0007\r\nFailed: nothing";
    const second = tenant.addApp({ displayName, notes: app().notes });
    await editPrinter(service, id, { address: "10.0.0.55", port_name: "" });

    const { code, output, said } = await publish(path);

    assert.deepEqual([code, changesIn(tenant)], [1, []]);
    assert.ok(/'A.+copy/.test(said) && said.includes("'Office'") && said.includes(second), said);
    // Texts of Intune are escaped for the terminal.
    const isPlain = (line: string) => !/[\u0000-\u001f\u007f]/.test(line) && !line.startsWith("Failed:");
    assert.ok(output.every(isPlain), said);
  });

  test("an icon stays, and a changed detection rule is set again, because nothing is installed without it", async (t) => {
    const { tenant, publish, path, app } = await startPublished(t);
    const { id, rules } = app();
    const [rule] = rules as Fields[];
    const largeIcon = picture(makePng(64, 64).toString("base64"));
    const theirs = [{ ...rule, scriptContent: "ZXhpdCAw" }];
    tenant.change(id, { rules: theirs, fileName: "other.intunewin", largeIcon });

    const run = await publish(path);

    assert.deepEqual([run.code, app().fileName], [0, "office.intunewin"], run.said);
    assert.deepEqual([app().rules, app().largeIcon], [rules, largeIcon]);
  });
});
