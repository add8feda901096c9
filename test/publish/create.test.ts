import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { intuneSections } from "../../src/pkg/formats/intune-fields.ts";
import { verifyIntunewin } from "../support/foreign.ts";
import { withoutPowerShell } from "../support/powershell.ts";
import {
  addIcon,
  appOf,
  changesIn,
  closePublisher,
  openPublisher,
  rowsOf,
  sharedDriver,
  startPublishing,
} from "../support/publishing.ts";

void intuneSections;
void verifyIntunewin;

describe("publishing what Intune does not have", { skip: withoutPowerShell }, () => {
  before(openPublisher);
  after(closePublisher);

  test("a printer becomes an app with every field of the page, its icon and its content", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    await service.post("/clients", { name: "Contoso", subnets: "10.1.0.0/16" });
    const id = await service.addPrinter({ name: "Front Desk", client_id: "1", location: "Hall" });
    const png = await addIcon(service, id);

    const run = await publish(`/printers/${id}/publish`);

    const app = appOf(tenant, `printer:${id}`);
    const page = await (await service.fetch(`/printers/${id}`)).text();
    const icon = app.largeIcon as { type: string; value: string };
    assert.deepEqual(
      rowsOf(run).map((row) => row.split(/ {2,}/)),
      [["Front Desk (Contoso)", "Created", ""]],
    );
    assert.deepEqual([run.code, icon.type, icon.value], [0, "image/png", png.toString("base64")]);
    for (const field of ["displayName", "description", "publisher", "displayVersion", "installCommandLine"])
      assert.ok(
        page.includes(`>${String(app[field])}<`),
        `the page has the same ${field}: ${String(app[field])}`,
      );
    assert.equal(app.publishingState, "published");
  });

  test("its content is the package that Platen offers, as the tenant decrypts it", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();

    await publish(`/printers/${id}/publish`);

    const offered = Buffer.from(await (await service.fetch(`/printers/${id}/packages/mdm`)).arrayBuffer());
    const { sha256 } = tenant.content(appOf(tenant, `printer:${id}`).id);
    const inside = verifyIntunewin(offered);
    assert.ok(Object.keys(inside).includes("install.ps1"));
    assert.equal(
      sha256,
      createHash("sha256")
        .update(await tenant.content(appOf(tenant, `printer:${id}`).id).bytes())
        .digest("hex"),
    );
  });

  test("a second run has nothing to do, and only reads", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    await addIcon(service, id);
    await publish(`/printers/${id}/publish`);
    const since = tenant.requests.length;

    const again = await publish(`/printers/${id}/publish`);

    assert.deepEqual([again.code, changesIn(tenant, since)], [0, []]);
    assert.match(rowsOf(again).join(), /Nothing to do/);
  });

  test("two printers with one driver are small apps that depend on the driver's", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const [one, two] = await sharedDriver(service);

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
