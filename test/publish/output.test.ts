import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { temporaryFolder } from "../support/app.ts";
import { program, withoutPowerShell } from "../support/powershell/powershell.ts";
import { addSharedDriver, appOf, editPrinter, startPublishing } from "../support/publish/publishing.ts";

describe("what publish.ps1 returns", { skip: withoutPowerShell }, () => {
  test("-PassThru returns an object for each app, with what changed and how long it took", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const [first = 0] = await addSharedDriver(service);
    const path = "/clients/1/publish";

    const created = await publish(path, { PassThru: true });
    await editPrinter(service, first, { location: "Floor 2" });
    const planned = await publish(path, { PassThru: true, WhatIf: true });
    const updated = await publish(path, { PassThru: true });

    const changes = ({ rows }: typeof updated) =>
      rows.map(({ Result, Changed }) => [Result, ...Changed].join()).toSorted();
    assert.deepEqual(
      new Set(created.rows.map(({ Result, AppId }) => `${Result} ${AppId}`)),
      new Set(["driver:1", "printer:1", "printer:2"].map((key) => `Created ${appOf(tenant, key).id}`)),
    );
    assert.ok(created.rows.every(({ Seconds, Client }) => Seconds > 0 && Client === "Contoso"));
    assert.deepEqual(changes(planned), ["Pending,Content,Description,Rules", "Unchanged", "Unchanged"]);
    assert.deepEqual(changes(updated), ["Unchanged", "Unchanged", "Updated,Content,Description,Rules"]);
    assert.deepEqual([created.code, planned.code, updated.code], [0, 3, 0]);
  });

  test("-AsJson writes one JSON array to STDOUT and everything else to STDERR, also after a failure", async (t) => {
    const { service, tenant, script } = await startPublishing(t);
    const id = await service.addPrinter({ name: "Łódź" });
    const folder = await temporaryFolder(t);
    const path = join(folder, "publish.ps1");
    await writeFile(path, await script(`/printers/${id}/publish`));
    const { graphUrl, loginUrl, token } = tenant;
    const run = (...more: string[]) => {
      const where = ["-GraphUrl", graphUrl, "-LoginUrl", loginUrl, "-LogPath", join(folder, "log")];
      const args = ["-NoProfile", "-NonInteractive", "-File", path, ...where, "-AsJson", ...more];
      return spawnPowerShell(args);
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
    assert.equal(rows[1]?.[0]?.AppId, appOf(tenant, `printer:${id}`).id);
    assert.deepEqual([rows[1]?.[0]?.Name, /^[\x00-\x7f]+$/.test(created.stdout)], ["Łódź", true]);
    assert.match(created.stderr, /Łódź - Created/);
  });

  test("-AsJson refuses what would ask a question", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();

    for (const given of [{ Confirm: true }, { Register: true, AccessToken: undefined }, { Remove: true }]) {
      const run = await publish(`/printers/${id}/publish`, { AsJson: true, ...given });
      assert.equal(run.code, 1);
      assert.match(run.log, /-AsJson asks no questions/);
    }
    assert.deepEqual(tenant.requests, []);
  });

  test("the exit code is 2 if some apps failed, and 1 if all failed", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    await addSharedDriver(service);
    const refusal = { method: "POST", path: /mobileApps$/, status: 400 };

    tenant.fault(refusal);
    const none = await publish("/clients/1/publish", { PassThru: true });
    await publish("/drivers/1/publish");
    tenant.fault(refusal);
    const some = await publish("/clients/1/publish", { PassThru: true });

    const results = ({ rows }: typeof some) => rows.map(({ Result }) => Result).toSorted();
    assert.deepEqual([none.code, results(none)], [1, ["Failed", "Failed", "Failed"]]);
    assert.match(none.rows[1]?.Reason ?? "", /depends on .* which was not published/);
    assert.deepEqual([some.code, results(some)], [2, ["Created", "Failed", "Unchanged"]]);
  });
});

/** Not synchronously, because this process is also the simulated Graph. */
function spawnPowerShell(args: readonly string[]) {
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(program, args, { encoding: "utf8" }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}
