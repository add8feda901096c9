import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { addSharedDriver, changesIn, resultRows, startPublishing } from "../support/publish/publishing.ts";

describe("an unreachable service", { skip: withoutPowerShell }, () => {
  test("a Platen that does not respond gets a few requests, and only for the first app", async (t) => {
    const { service, tenant, script, run } = await startPublishing(t);
    await addSharedDriver(service);
    const text = await script("/clients/1/publish");
    await service.stop();

    const result = await run(text);

    assert.deepEqual([result.code, changesIn(tenant)], [1, []]);
    assert.equal(result.log.match(/Waiting \d+ s before the next try/g)?.length, 6);
    assert.match(
      resultRows(result)[0] ?? "",
      /could not be downloaded from http:\S+: .*download the packages and use -Package/,
    );
    assert.deepEqual(
      resultRows(result)
        .slice(1)
        .map((row) => /not tried/.test(row)),
      [true, true],
    );
    assert.match(result.output.join("\n"), /\nStopped: \S+ could not be downloaded/);
  });

  test("a Graph that does not respond gets a few requests", async (t) => {
    const { service, publish } = await startPublishing(t);
    const id = await service.addPrinter();

    const run = await publish(`/printers/${id}/publish`, { GraphUrl: "http://127.0.0.1:9" });

    assert.equal(run.code, 1);
    assert.equal(run.log.match(/Waiting \d+ s before the next try/g)?.length, 3);
    assert.match(
      run.output.join("\n"),
      /Intune did not list the apps: there was no answer from http:\/\/127\.0\.0\.1:9 /,
    );
  });

  test("a missing list of apps is reported at once, because the address is not Graph's", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    tenant.fault({ path: /mobileApps$/, status: 404, times: 9 });

    const run = await publish(`/printers/${id}/publish`);

    assert.equal(run.code, 1);
    assert.doesNotMatch(run.log, /Waiting \d/);
    assert.match(run.output.join("\n"), /Intune did not list the apps: 404/);
  });
});
