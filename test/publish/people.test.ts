import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { startAlone } from "../support/publish/publish-alone.ts";
import {
  addSharedDriver,
  appOf,
  changesIn,
  editPrinter,
  type Publishing,
  resultRows,
  startPublishing,
} from "../support/publish/publishing.ts";

const group = "11111111-2222-4333-8444-555555555555";

function signedIn({ tenant }: Publishing): string[] {
  return ["-GraphUrl", tenant.graphUrl, "-AccessToken", tenant.token];
}

describe("people who run the script", { skip: withoutPowerShell }, () => {
  test("decline with -Confirm: the run names the declined apps, and their changes are pending", async (t) => {
    const publishing = await startPublishing(t);
    const id = await publishing.service.addPrinter();
    const text = await publishing.script(`/printers/${id}/publish`);

    const declined = await (await startAlone(t, text, [...signedIn(publishing), "-Confirm"], ["N"])).ended;
    const changes = changesIn(publishing.tenant);
    const args = [...signedIn(publishing), "-Confirm", "-AssignTo", group];
    const half = await (await startAlone(t, text, args, ["Y", "N"])).ended;

    assert.match(declined.output, /Office +Pending .*declined/);
    assert.deepEqual([declined.code, changes], [3, []]);
    assert.match(half.output, /Office +Pending .*declined/);
    const app = appOf(publishing.tenant, `printer:${id}`);
    assert.equal(publishing.tenant.getApp(app.id).assignments.length, 0);
    assert.deepEqual([half.code, app.publishingState], [3, "published"]);
  });

  test("decline a driver's app: the printers that need it are not published", async (t) => {
    const publishing = await startPublishing(t);
    await addSharedDriver(publishing.service);
    const text = await publishing.script("/clients/1/publish");

    const run = await (await startAlone(t, text, [...signedIn(publishing), "-Confirm"], ["N"])).ended;

    assert.deepEqual([run.code, changesIn(publishing.tenant)], [2, []]);
    assert.match(run.output, /declined/);
    assert.equal(
      run.output.match(/Failed +It depends on '[^']+', which was not published/g)?.length,
      2,
      run.output,
    );
  });

  test("decline a dependency: content that needs it is not uploaded", async (t) => {
    const publishing = await startPublishing(t);
    const { service, tenant, publish, script } = publishing;
    const [id = 0] = await addSharedDriver(service, ["Front Desk"]);
    await publish("/clients/1/publish");
    const app = appOf(tenant, `printer:${id}`).id;
    const whole = tenant.content(app).sha256;
    await service.addPrinter({ client_id: "1", driver_id: "1", name: "Second", address: "10.0.0.9" });
    const text = await script("/clients/1/publish");

    const answers = ["Y", "Y", "N", "N"];
    const run = await (await startAlone(t, text, [...signedIn(publishing), "-Confirm"], answers)).ended;

    assert.match(run.output, /Front Desk \(Contoso\) +Pending .*declined/);
    assert.deepEqual([run.code, tenant.content(app).sha256, tenant.children(app)], [3, whole, []]);
    assert.ok(tenant.content(appOf(tenant, "driver:1").id).size > 0);
  });

  test("press Ctrl+C: the run ends with 1 and says that the next run continues", async (t) => {
    const publishing = await startPublishing(t);
    const { service, tenant, script, run } = publishing;
    const id = await service.addPrinter();
    const text = await script(`/printers/${id}/publish`);
    const started = await startAlone(t, text, signedIn(publishing));
    tenant.onRequest = async ({ area }) => {
      if (area !== "storage") return;
      started.interrupt();
      await started.ended;
    };

    const ended = await started.ended;
    tenant.onRequest = undefined;
    const next = await run(text);

    assert.equal(ended.code, 1, ended.output);
    assert.match(ended.output, /Interrupted\. Run this script again: it continues where this run stopped\./);
    assert.deepEqual([next.code, tenant.apps().length], [0, 1]);
  });

  test("are asked before a deletion, and the default answer is no", async (t) => {
    const publishing = await startPublishing(t);
    const { service, tenant, publish, script } = publishing;
    const gone = await service.addPrinter();
    const other = await service.addPrinter({ name: "Elsewhere", driver_id: "1" });
    await publish(`/printers/${gone}/publish`);
    await service.fetch(`/printers/${gone}`, { method: "DELETE" });
    const text = await script(`/printers/${other}/publish`);

    const kept = await (await startAlone(t, text, [...signedIn(publishing), "-Remove"], [""])).ended;
    const apps = tenant.apps().length;
    const deleted = await (await startAlone(t, text, [...signedIn(publishing), "-Remove"], ["y"])).ended;

    assert.match(kept.output, /Delete 1 app\? What they installed stays on the PCs\.[\s\S]*Office +Pending/);
    assert.match(deleted.output, /Office +Removed/);
    assert.deepEqual([kept.code, apps, deleted.code, tenant.apps().length], [3, 1, 0, 0]);
  });

  test("run an older script: it does not revert an app without -Force", async (t) => {
    const { service, tenant, publish, run, script } = await startPublishing(t);
    const id = await service.addPrinter();
    const path = `/printers/${id}/publish`;
    await editPrinter(service, id, { address: "10.0.0.1", port_name: "" });
    const old = (await script(path)).replace(/Made = '\d{8}T\d{6}Z'/, "Made = '20260101T000000Z'");
    await editPrinter(service, id, { address: "10.0.0.99", port_name: "" });
    await publish(path);
    await editPrinter(service, id, { address: "10.0.0.1", port_name: "" });
    const since = tenant.requests.length;

    const refused = await run(old);
    const changes = changesIn(tenant, since);
    const forced = await run(old, { Force: true });
    const rerun = await run(old);

    assert.deepEqual([refused.code, changes], [1, []]);
    assert.match(
      resultRows(refused).join(),
      /Failed +A newer script, of 20\d\d-\d\d-\d\d \d\d:\d\d UTC, published this app/,
    );
    assert.deepEqual([forced.code, rerun.code], [0, 0], forced.output.join("\n"));
    assert.match(resultRows(rerun).join(), /Unchanged/);
    assert.match(String(appOf(tenant, `printer:${id}`).notes), / at:20260101T000000Z /);
  });

  test("see the printers that cannot be deployed, and the others are published", async (t) => {
    const { service, publish } = await startPublishing(t);
    await addSharedDriver(service);
    await service.post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.9" });

    const run = await publish("/clients/1/publish");

    assert.equal(run.code, 0);
    assert.match(resultRows(run).join("\n"), /^Bare +LeftOut +\S/m);
    assert.equal(resultRows(run).filter((row) => row.includes("Created")).length, 3);
  });

  const contradictions: Readonly<Record<string, [Record<string, unknown>, RegExp]>> = {
    "-Remove and -Together": [
      { Remove: true, Together: true },
      /-Remove publishes nothing\. Run it without -Together/,
    ],
    "-Remove and -AssignTo": [{ Remove: true, AssignTo: [group] }, /-Remove publishes nothing/],
    "-Remove and -Package": [{ Remove: true, Package: "a" }, /-Remove publishes nothing/],
    "-Intent alone": [{ Intent: "available" }, /-Intent is for the assignments of -AssignTo/],
    "a token and a tenant": [{ Tenant: "contoso.com" }, /Use -AccessToken or -Tenant, not both/],
    "a token and an app": [{ ClientId: group }, /Use -AccessToken or -ClientId, not both/],
    "-Together for a printer": [{ Together: true }, /-Together is for the script of a client/],
  };
  for (const [name, [parameters, message]] of Object.entries(contradictions)) {
    test(`give parameters that contradict each other, which are refused: ${name}`, async (t) => {
      const { service, tenant, publish } = await startPublishing(t);
      const id = await service.addPrinter();

      const run = await publish(`/printers/${id}/publish`, parameters);

      assert.deepEqual([run.code, tenant.requests.length], [1, 0]);
      assert.match(run.output.join("\n"), message);
    });
  }
});
