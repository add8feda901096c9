import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Tenant } from "../support/graph/tenant.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { Publisher } from "../support/publish/publisher.ts";
import { appOf, changesIn, editPrinter, startPublishing } from "../support/publish/publishing.ts";

const lease = (run: string, until: Date) =>
  `platen-lease:INSTANCE:${run} until:${until.toISOString().replace(/[-:]|\.\d+/g, "")}`;

/** A second PowerShell, which has run the script once, so that it starts at once. */
async function otherRun(t: TestContext, { graphUrl, loginUrl, token }: Tenant, text: string) {
  const other = new Publisher();
  t.after(() => other.close());
  const given = { GraphUrl: graphUrl, LoginUrl: loginUrl, AccessToken: token, PassThru: true };
  await other.run(text, { ...given, WhatIf: true });
  return { other, given };
}

describe("two runs of publish.ps1 in one tenant", { skip: withoutPowerShell }, () => {
  test("the second run waits for the first one's upload and then finds nothing to do", async (t) => {
    const { service, tenant, script, run } = await startPublishing(t);
    const id = await service.addPrinter();
    const path = `/printers/${id}/publish`;
    await run(await script(path));
    await editPrinter(service, id, { location: "Floor 2" });
    const text = await script(path);
    const { other, given } = await otherRun(t, tenant, text);
    tenant.fault({ area: "storage", delayMs: 1500 });
    const since = tenant.requests.length;

    const first = run(text, { PassThru: true });
    while (!tenant.requests.some(({ number, area }) => number > since && area === "storage"))
      await new Promise((resolve) => setTimeout(resolve, 20));
    const second = await other.run(text, given);

    const { rows } = await first;
    assert.deepEqual([rows[0]?.Result, second.rows[0]?.Result], ["Updated", "Unchanged"]);
    assert.match(
      second.output.join("\n"),
      /Another run of publish\.ps1 is uploading 'Office'\. Waiting for it/,
    );
    assert.equal(
      changesIn(tenant, since).filter((line) => line === "POST mobileApps/{id}/contentVersions").length,
      1,
    );
    assert.doesNotMatch(String(appOf(tenant, `printer:${id}`).notes), /platen-lease/);
  });

  test("a lease that has ended, or would last for years, is ignored, and one that does not end stops the run without a change", async (t) => {
    const { service, tenant, script, run } = await startPublishing(t);
    const id = await service.addPrinter();
    const path = `/printers/${id}/publish`;
    await run(await script(path));
    const app = appOf(tenant, `printer:${id}`);
    const instance = /platen:(\w+):/.exec(String(app.notes))?.[1] ?? "";
    const notesWith = (line: string) => `${app.notes}\n${line.replace("INSTANCE", instance)}`;
    await editPrinter(service, id, { location: "Floor 2" });
    const text = await script(path, [["$LeaseWaitSeconds = 600", "$LeaseWaitSeconds = 1"]]);

    tenant.change(app.id, { notes: notesWith(lease("0123456789ab", new Date(Date.now() + 60_000))) });
    const since = tenant.requests.length;
    const held = await run(text, { PassThru: true });
    const changes = changesIn(tenant, since);
    tenant.change(app.id, { notes: notesWith(lease("0123456789ab", new Date(Date.now() - 1000))) });
    const dead = await run(text, { PassThru: true });
    await editPrinter(service, id, { location: "Floor 3" });
    const later = await script(path, [["$LeaseWaitSeconds = 600", "$LeaseWaitSeconds = 1"]]);
    tenant.change(app.id, { notes: notesWith(lease("0123456789ab", new Date(Date.UTC(2100, 0)))) });
    const endless = await run(later, { PassThru: true });

    assert.deepEqual([held.code, changes], [1, []]);
    assert.match(held.rows[0]?.Reason ?? "", /Another run of publish\.ps1 is uploading 'Office'/);
    for (const { code, rows, output } of [dead, endless])
      assert.deepEqual([code, rows[0]?.Result], [0, "Updated"], output.join("\n"));
    assert.doesNotMatch(String(appOf(tenant, `printer:${id}`).notes), /platen-lease/);
  });

  test("a failed upload gives the lease back, so that the next run does not wait", async (t) => {
    const { service, tenant, script, run } = await startPublishing(t);
    const id = await service.addPrinter();
    const path = `/printers/${id}/publish`;
    await run(await script(path));
    await editPrinter(service, id, { location: "Floor 2" });
    tenant.fault({ method: "POST", path: /contentVersions$/, status: 400 });

    const failed = await run(await script(path));
    const notes = String(appOf(tenant, `printer:${id}`).notes);
    const next = await run(await script(path));

    assert.deepEqual([failed.code, next.code], [1, 0], next.output.join("\n"));
    assert.doesNotMatch(notes, /platen-lease/);
  });

  test("of two runs that create the same app at once, one keeps its app, and the other deletes its own and says so", async (t) => {
    const { service, tenant, script, run } = await startPublishing(t);
    const id = await service.addPrinter();
    const text = await script(`/printers/${id}/publish`);
    const { other, given } = await otherRun(t, tenant, text);
    // One run learns late that there is no app, and creates its own after the other.
    tenant.fault({ method: "GET", path: /mobileApps$/, delayMs: 4000 });

    const first = run(text, { PassThru: true });
    const second = other.run(text, given);
    const runs = [await first, await second];
    const next = await run(text, { PassThru: true });

    const failed = runs.filter(({ code }) => code !== 0);
    assert.equal(tenant.apps().length, 1);
    assert.equal(failed.length, 1, JSON.stringify(runs.map(({ rows }) => rows)));
    assert.match(
      failed[0]?.rows[0]?.Reason ?? "",
      /Another run of publish\.ps1 created this app at the same moment/,
    );
    assert.deepEqual([next.code, next.rows[0]?.Result], [0, "Unchanged"]);
  });
});
