import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { selectCases } from "../support/depth.ts";
import type { BehaviourChanges } from "../support/graph/behaviour.ts";
import type { Fault } from "../support/graph/faults.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  addIcon,
  addSharedDriver,
  appOf,
  type Publishing,
  resultRows,
  startPublishing,
} from "../support/publish/publishing.ts";

/** Publishes a printer with an icon. @returns the number of requests */
async function publishWithIcon({ service, tenant, publish }: Publishing): Promise<number> {
  const id = await service.addPrinter();
  await addIcon(service, id);
  const run = await publish(`/printers/${id}/publish`);
  assert.equal(run.code, 0, run.output.join("\n") + run.log);
  const app = appOf(tenant, `printer:${id}`);
  assert.ok(tenant.content(app.id).size > 0 && app.publishingState === "published" && app.largeIcon !== null);
  assert.deepEqual(
    Object.values(tenant.versions(app.id)),
    [["commitFileSuccess"]],
    "nothing unfinished is left",
  );
  return tenant.requests.length;
}

/** Small blocks, so that a small package has several. */
const smallBlocks = [["$UploadBlockBytes = 6291456", "$UploadBlockBytes = 2048"]] as const;

describe("a service that is busy, slow or broken", { skip: withoutPowerShell }, () => {
  const moods: Readonly<Record<string, BehaviourChanges>> = {
    "shows a new app late": { listedAfter: 3, unreadableFor: 3, unrelatableFor: 2 },
    "answers 409 for a new app at first": { unreadableFor: 3, unreadableStatus: 409 },
    "takes its time for everything": { uriPolls: 4, commitPolls: 4, processingFor: 4 },
    "refuses the content version for a while after its commit": { patchRefusals: 4 },
    "says nothing after a change": { patchReturnsNoBody: true },
    "refuses a new address for a moment": { newUriRefusals: 1 },
    "fails to give an address once": { uriResults: ["Failed"] },
    "takes too long to give an address once": { uriResults: ["TimedOut"] },
    "fails a commit once": { commitFailures: 1 },
    "gives pages of one": { pageSize: 1 },
  };
  for (const [name, behaviour] of selectCases(Object.entries(moods), 4)) {
    test(`a tenant that ${name} still gets the app`, async (t) => {
      const publishing = await startPublishing(t, behaviour);

      const requests = await publishWithIcon(publishing);

      assert.ok(requests > 10);
    });
  }

  const faults: Readonly<Record<string, Fault>> = {
    "is throttled for a second": { status: 429, retryAfter: 1, times: 2 },
    "is throttled without a time": { status: 429, times: 4 },
    "is throttled until a date": { status: 503, retryAfter: new Date(0).toUTCString(), times: 2 },
    "meets 500": { status: 500, times: 3 },
    "meets 502 after the effect": { status: 502, when: "after", method: "PATCH" },
    "meets a bad gateway at the storage": { status: 502, area: "storage", times: 2 },
    "meets 408": { status: 408, times: 3 },
    "meets an answer that comes late": { delayMs: 300, times: 3 },
  };
  for (const [name, fault] of selectCases(Object.entries(faults), 4)) {
    test(`a run that ${name} continues`, async (t) => {
      const publishing = await startPublishing(t);
      publishing.tenant.fault(fault);

      await publishWithIcon(publishing);

      assert.equal(publishing.tenant.faults.left, 0, "the fault happened");
    });
  }

  test("a connection that breaks at any request, before or after its effect, causes no second app", async (t) => {
    const total = await publishWithIcon(await startPublishing(t));
    const requests = Array.from({ length: total }, (_, i) => i + 1);
    for (const at of selectCases(requests, 2)) {
      for (const when of ["before", "after"] as const) {
        const publishing = await startPublishing(t);
        publishing.tenant.fault({ at, when, reset: true });

        await publishWithIcon(publishing);

        assert.equal(publishing.tenant.apps().length, 1, `${when} request ${at}`);
      }
    }
  });

  test("an app whose creation had no response is found, even if lists show it late", async (t) => {
    const publishing = await startPublishing(t, { listedAfter: 4 });
    publishing.tenant.fault({ method: "POST", path: /mobileApps$/, when: "after", status: 504 });

    await publishWithIcon(publishing);

    assert.equal(publishing.tenant.apps().length, 1);
  });

  test("an upload address that expires after every third block is renewed, and so is an old one", async (t) => {
    const publishing = await startPublishing(t, { blocksPerUri: 3 });
    const { service, tenant, script, run } = publishing;
    const [id = 0] = await addSharedDriver(service, ["Front Desk"]);
    const text = await script(`/printers/${id}/publish`, [...smallBlocks]);
    const hasty = await script(`/printers/${id}/publish`, [
      ...smallBlocks,
      ["$RenewSeconds = 450", "$RenewSeconds = 0"],
    ]);

    const first = await run(text);
    const renewed = renewals(publishing);
    const app = appOf(tenant, `printer:${id}`).id;
    const { sha256 } = tenant.content(app);
    tenant.remove(app);
    tenant.behaviour.blocksPerUri = Number.POSITIVE_INFINITY;
    tenant.behaviour.renewalState = "azureStorageUriRequestSuccess";
    const second = await run(hasty);

    assert.deepEqual([first.code, second.code], [0, 0]);
    assert.ok(renewed > 1 && renewals(publishing) > 2 * renewed);
    assert.equal(tenant.content(appOf(tenant, `printer:${id}`).id).sha256, sha256);
  });

  test("a run gives up a service that never recovers, and names its code, message and request id", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    tenant.fault({ method: "POST", path: /\/commit$/, status: 503, times: 1000 });

    const run = await publish(`/printers/${id}/publish`);

    const app = appOf(tenant, `printer:${id}`);
    assert.equal(run.code, 1);
    assert.match(
      resultRows(run).join(),
      /Failed +Intune did not commit the content: 503 ServiceUnavailable: A simulated fault \(request id [0-9a-f-]+\)\./,
    );
    assert.ok(
      resultRows(run).join().includes(`The app (${app.id}) has no content yet. Run this script again.`),
    );
  });
});

function renewals({ tenant }: Publishing): number {
  return tenant.requests.filter(({ path }) => path.endsWith("/renewUpload")).length;
}
