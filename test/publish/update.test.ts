import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deepTest } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import type { Tenant } from "../support/graph/tenant.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
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

describe("updating existing apps", { skip: withoutPowerShell }, () => {
  test("a new address makes a new package, and content and detection change together", async (t) => {
    const { service, tenant, publish, path, id, app } = await startPublished(t);
    const { rules } = app();
    await editPrinter(service, id, { address: "10.0.0.77", port_name: "" });

    const run = await publish(path);

    assert.deepEqual(changesIn(tenant), upload);
    assert.deepEqual(lastPatch(tenant), [
      "@odata.type",
      "committedContentVersion",
      "fileName",
      "notes",
      "rules",
      "setupFilePath",
    ]);
    assert.deepEqual([run.code, app().committedContentVersion], [0, "2"]);
    assert.notDeepEqual(app().rules, rules);
    assert.match(resultRows(run).join(), /Updated +Content, Rules$/);
  });

  deepTest("a new icon is sent without uploading content", async (t) => {
    const { service, tenant, publish, published, path, id, app } = await startWithPrinter(t);
    await addIcon(service, id);
    await published(path);
    const png = await addIcon(service, id, 99);

    const run = await publish(path);

    const icon = app().largeIcon as { value: string };
    assert.deepEqual(changesIn(tenant), ["PATCH mobileApps/{id}"]);
    assert.deepEqual(lastPatch(tenant), ["@odata.type", "largeIcon", "notes"]);
    assert.deepEqual([run.code, icon.value], [0, png.toString("base64")]);
  });

  test("an icon deleted in Platen is removed from the app", async (t) => {
    const { service, publish, published, path, id, app } = await startWithPrinter(t);
    await addIcon(service, id);
    await published(path);
    await service.fetch(`/printers/${id}/icon`, { method: "DELETE" });

    await publish(path);

    assert.equal(app().largeIcon, null);
  });

  test("an administrator's icon stays", async (t) => {
    const { service, tenant, publish, path, id, app } = await startPublished(t);
    const type = "#microsoft.graph.mimeContent";
    const theirs = { "@odata.type": type, type: "image/png", value: "iVBORw0KGgo=" };
    tenant.change(app().id, { largeIcon: theirs });
    await editPrinter(service, id, { address: "10.0.0.78", port_name: "" });

    await publish(path);

    assert.deepEqual(app().largeIcon, theirs);
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

  deepTest("a printer keeps its app when it starts and stops sharing its driver", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const [first] = await addSharedDriver(service, ["Front Desk"]);
    await publish("/clients/1/publish");
    const { id } = appOf(tenant, `printer:${first}`);
    const whole = tenant.content(id).size;

    const fields = { client_id: "1", driver_id: "1", name: "Second", address: "10.0.0.9" };
    const second = await service.addPrinter(fields);
    await publish("/clients/1/publish");
    const shared = { size: tenant.content(id).size, children: tenant.children(id) };
    await service.fetch(`/printers/${second}`, { method: "DELETE" });
    await publish("/clients/1/publish");

    assert.ok(shared.size < whole);
    assert.deepEqual(shared.children, [appOf(tenant, "driver:1").id]);
    assert.deepEqual([tenant.children(id), tenant.content(id).size], [[], whole]);
  });

  test("a printer that no longer shares its driver keeps its app, which no longer depends on another", async (t) => {
    const { service, tenant, publish, published } = await startPublishing(t);
    const [first, second] = await addSharedDriver(service);
    await published("/clients/1/publish");
    const { id } = appOf(tenant, `printer:${first}`);
    await service.fetch(`/printers/${second}`, { method: "DELETE" });

    const run = await publish("/clients/1/publish");

    assert.deepEqual([run.code, appOf(tenant, `printer:${first}`).id, tenant.children(id)], [0, id, []]);
    // The small package was 7 bytes.
    assert.ok(tenant.content(id).size > 1000);
  });

  deepTest("a newer driver is new content for the driver's app, and the printers are updated", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    await addSharedDriver(service);
    await publish("/clients/1/publish");
    const newer = await service.addDriver(driverZip({ models: ["Papyrus 100 PCL6"], version: "9.0.0.0" }));
    for (const id of [1, 2]) await editPrinter(service, id, { driver_id: String(newer) });

    const run = await publish("/clients/1/publish");

    const driver = appOf(tenant, `driver:${newer}`).id;
    const printers = [1, 2].map((id) => appOf(tenant, `printer:${id}`).id);
    assert.equal(run.code, 0);
    assert.deepEqual(
      printers.map((id) => tenant.children(id)),
      [[driver], [driver]],
    );
    assert.ok(run.said.includes(`Note: no app depends on '${appOf(tenant, "driver:1").displayName}'`));
  });
});
