import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { deepTest, selectCases } from "../support/depth.ts";
import type { Tenant } from "../support/graph/tenant.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { Publisher } from "../support/publish/publisher.ts";
import {
  appOf,
  changesIn,
  editPrinter,
  startPublished,
  startPublishing,
} from "../support/publish/publishing.ts";

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
  deepTest("the second run waits for the first one's upload and then finds nothing to do", async (t) => {
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
    assert.match(second.said, /Another run of publish\.ps1 is uploading 'Office'\. Waiting for it/);
    assert.equal(
      changesIn(tenant, since).filter((line) => line === "POST mobileApps/{id}/contentVersions").length,
      1,
    );
    assert.doesNotMatch(String(appOf(tenant, `printer:${id}`).notes), /platen-lease/);
  });

  const leases = [
    ["that has ended is ignored", true, () => new Date(Date.now() - 1000)],
    ["that would last for years is ignored", true, () => new Date(Date.UTC(2100, 0))],
    ["that does not end stops the run", false, () => new Date(Date.now() + 60_000)],
  ] as const;
  for (const [what, isIgnored, until] of selectCases(leases, 2))
    test(`a lease ${what}`, async (t) => {
      const { service, tenant, script, run, id, path, app } = await startPublished(t);
      const [, instance = ""] = /platen:(\w+):/.exec(String(app().notes)) ?? [];
      const line = lease("0123456789ab", until()).replace("INSTANCE", instance);
      tenant.change(app().id, { notes: `${app().notes}\n${line}` });
      await editPrinter(service, id, { location: "Floor 2" });
      const text = await script(path, [["$LeaseWaitSeconds = 600", "$LeaseWaitSeconds = 1"]]);

      const { code, rows, said } = await run(text, { PassThru: true });

      assert.deepEqual([code, rows[0]?.Result], isIgnored ? [0, "Updated"] : [1, "Failed"], said);
      if (isIgnored) assert.doesNotMatch(String(app().notes), /platen-lease/);
      else {
        assert.deepEqual(changesIn(tenant), []);
        assert.match(rows[0]?.Reason ?? "", /Another run of publish\.ps1 is uploading 'Office'/);
      }
    });

  test("a failed upload gives the lease back, so that the next run does not wait", async (t) => {
    const { service, tenant, publish, id, path, app } = await startPublished(t);
    await editPrinter(service, id, { location: "Floor 2" });
    tenant.fault({ method: "POST", path: /contentVersions$/, status: 400 });

    const failed = await publish(path);

    assert.equal(failed.code, 1, failed.said);
    assert.doesNotMatch(String(app().notes), /platen-lease/);
    assert.ok(tenant.requests.some(({ body }) => /platen-lease/.test(JSON.stringify(body) ?? "")));
  });

  deepTest(
    "of two runs that create the same app at once, one keeps its app, and the other deletes its own and says so",
    async (t) => {
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
    },
  );
});
