import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Fields } from "../support/graph/schema.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  addIcon,
  addSharedDriver,
  appOf,
  changesIn,
  resultRows,
  startPublishing,
} from "../support/publish/publishing.ts";

describe("publishing new apps", { skip: withoutPowerShell }, () => {
  test("a printer becomes an app with every field of its page, its icon and its rules", async (t) => {
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
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();

    await publish(`/printers/${id}/publish`);

    const answer = await service.fetch(`/printers/${id}/packages/mdm`);
    const offered = Buffer.from(await answer.arrayBuffer()).toString("latin1");
    const digest = /<FileDigest>([^<]+)</.exec(offered)?.[1] ?? "";
    const { sha256 } = tenant.content(appOf(tenant, `printer:${id}`).id);
    assert.equal(Buffer.from(digest, "base64").toString("hex"), sha256);
  });

  test("a second run only reads, even if a name looks like a date", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter({ name: "2026-01-01T08:00:00+01:00" });
    await addIcon(service, id);
    await publish(`/printers/${id}/publish`);
    const since = tenant.requests.length;

    const second = await publish(`/printers/${id}/publish`);

    assert.deepEqual([second.code, changesIn(tenant, since)], [0, []]);
    assert.match(resultRows(second).join(), /Unchanged/);
  });

  test("two printers with one driver become small apps that depend on the driver's app", async (t) => {
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
