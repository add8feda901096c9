import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { deepTest, selectCases } from "../support/depth.ts";
import type { BehaviourChanges } from "../support/graph/behaviour.ts";
import type { Fault } from "../support/graph/faults.ts";
import type { Tenant } from "../support/graph/tenant.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { Publisher } from "../support/publish/publisher.ts";
import {
  addIcon,
  addSharedDriver,
  appOf,
  changesIn,
  editPrinter,
  type OnePrinter,
  resultRows,
  startPublished,
  startPublishing,
  startWithoutPlaten,
  startWithPrinter,
} from "../support/publish/publishing.ts";

/** Publishes the printer with an icon. @returns the number of requests */
async function publishWithIcon(one: OnePrinter, environment: Record<string, string> = {}): Promise<number> {
  const { service, tenant, publish, id, path, app } = one;
  await addIcon(service, id);
  const run = await publish(path, {}, environment);
  assert.equal(run.code, 0, run.said + run.log);
  assert.equal(tenant.apps().length, 1, "there is no second app");
  const { publishingState, largeIcon } = app();
  assert.ok(tenant.content(app().id).size > 0 && publishingState === "published" && largeIcon !== null);
  const states = Object.values(tenant.versions(app().id));
  assert.deepEqual(states, [["commitFileSuccess"]], "nothing unfinished is left");
  return tenant.requests.length;
}

describe("a service that is busy, slow or broken", { skip: withoutPowerShell }, () => {
  const moods: Readonly<Record<string, BehaviourChanges>> = {
    "shows a new app late, and ends an address after one block": {
      ...{ listedAfter: 3, unreadableFor: 3, unrelatableFor: 2, blocksPerUri: 1 },
    },
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
  // One tenant does all of it in the quick tier, one after another.
  const onlyOnce = { blocksPerUri: Number.POSITIVE_INFINITY };
  const all: BehaviourChanges = Object.assign({}, ...Object.values(moods).toReversed(), onlyOnce);
  for (const [name, behaviour] of selectCases(Object.entries({ "does all of it": all, ...moods }), 1))
    test(`a tenant that ${name} still gets the app`, async (t) => {
      // The package has eight such blocks.
      const blocks = { UploadBlockBytes: "4096" };
      assert.ok((await publishWithIcon(await startWithPrinter(t, behaviour), blocks)) > 10);
    });

  const creation = { method: "POST", path: /mobileApps$/ };
  const faults: Readonly<Record<string, Fault>> = {
    "is throttled for a second": { status: 429, retryAfter: 1, times: 2 },
    "is throttled without a time": { status: 429, times: 4 },
    "meets 500": { status: 500, times: 3 },
    "meets 502 after the effect": { status: 502, when: "after", method: "PATCH" },
    "meets a bad gateway at the storage": { status: 502, area: "storage", times: 2 },
    "meets 408": { status: 408, times: 3 },
    "creates an app before its connection breaks": { ...creation, when: "after", reset: true },
    "loses its connection before it creates an app": { ...creation, when: "before", reset: true },
    "is throttled until a date": { status: 503, retryAfter: new Date(0).toUTCString(), times: 2 },
    "meets an answer that comes late": { delayMs: 300, times: 3 },
    "creates an app without a response": { ...creation, when: "after", status: 504 },
  };
  for (const [name, fault] of selectCases(Object.entries(faults), 1))
    test(`a run that ${name} continues`, async (t) => {
      // Lists show a new app late.
      const one = await startWithPrinter(t, { listedAfter: 4 });
      one.tenant.fault(fault);

      await publishWithIcon(one);

      assert.equal(one.tenant.faults.left, 0, "the fault happened");
    });

  deepTest("a connection that breaks at any request causes no second app", async (t) => {
    const total = await publishWithIcon(await startWithPrinter(t));
    for (let at = 1; at <= total; at++)
      for (const when of ["before", "after"] as const) {
        const one = await startWithPrinter(t);
        one.tenant.fault({ at, when, reset: true });

        await publishWithIcon(one);
      }
  });

  deepTest(
    "an old upload address is renewed before each block, also by a tenant that calls it a request",
    async (t) => {
      const renewalState = "azureStorageUriRequestSuccess";
      const { service, tenant, publish, path, id, app } = await startWithPrinter(t, { renewalState });

      const run = await publish(path, {}, { UploadBlockBytes: "4096", RenewSeconds: "0.001" });

      const answer = await service.fetch(`/printers/${id}/packages/mdm`);
      const digest = /<FileDigest>([^<]+)</.exec(await answer.text())?.[1] ?? "";
      assert.equal(run.code, 0, run.said + run.log);
      assert.ok(tenant.requests.filter(({ path }) => path.endsWith("/renewUpload")).length > 1);
      assert.equal(tenant.content(app().id).sha256, Buffer.from(digest, "base64").toString("hex"));
    },
  );

  deepTest(
    "a run gives up a service that always answers 503, and names its code, message and request id",
    async (t) => {
      const { tenant, publish, path, app } = await startWithPrinter(t);
      tenant.fault({ method: "POST", path: /\/commit$/, status: 503, times: 1000 });

      const run = await publish(path);

      const rows = resultRows(run).join();
      const said = /503 ServiceUnavailable: A simulated fault \(request id [0-9a-f-]+\)\./.source;
      assert.equal(run.code, 1);
      assert.match(rows, new RegExp(`Failed +Intune did not commit the content: ${said}`));
      assert.ok(rows.includes(`The app (${app().id}) has no content yet. Run this script again.`));
    },
  );
});

describe("an unreachable service", { skip: withoutPowerShell }, () => {
  deepTest("a Platen that does not respond gets a few requests, and only for the first app", async (t) => {
    const { service, tenant, script, run } = await startPublishing(t);
    await addSharedDriver(service);
    const text = await script("/clients/1/publish");
    await service.stop();

    const result = await run(text);

    const [first = "", ...others] = resultRows(result);
    assert.deepEqual([result.code, changesIn(tenant)], [1, []]);
    assert.equal(result.log.match(/Waiting \d+ s before the next try/g)?.length, 6);
    assert.match(first, /could not be downloaded from http:\S+: .*download the packages and use -Package/);
    assert.ok(others.length === 2 && others.every((row) => /not tried/.test(row)));
    assert.match(result.said, /\nStopped: \S+ could not be downloaded/);
  });

  test("a Graph that does not respond gets a few requests", async (t) => {
    const one = await startWithoutPlaten(t);

    const run = await one.run({ GraphUrl: "http://127.0.0.1:9" });

    assert.equal(run.code, 1);
    assert.equal(run.log.match(/Waiting \d+ s before the next try/g)?.length, 3);
    assert.match(run.said, /Intune did not list the apps: there was no answer from http:\/\/127\.0\.0\.1:9 /);
  });

  test("a missing list of apps is reported at once, because the address is not Graph's", async (t) => {
    const one = await startWithoutPlaten(t);
    one.tenant.fault({ path: /mobileApps$/, status: 404, times: 9 });

    const run = await one.run();

    assert.equal(run.code, 1);
    assert.doesNotMatch(run.log, /Waiting \d/);
    assert.match(run.said, /Intune did not list the apps: 404/);
  });
});

describe("an interrupted run", { skip: withoutPowerShell }, () => {
  const path = "/clients/1/publish";
  /** Names that the run looks up. */
  const assigned = { AssignTo: ["Front desk"], Category: "Printers", ScopeTag: ["Contoso"] };
  const group = "11111111-2222-4333-8444-555555555555";

  /** A client with two printers of one driver, one of them with an icon. */
  async function startWithTwoPrinters(t: Parameters<typeof startPublishing>[0]) {
    const publishing = await startPublishing(t);
    const ids = await addSharedDriver(publishing.service);
    await addIcon(publishing.service, ids[0] ?? 0);
    const { groups, roleScopeTags, mobileAppCategories } = publishing.tenant.directory;
    groups.push({ id: group, displayName: "Front desk" });
    roleScopeTags.push({ id: "7", displayName: "Contoso" });
    mobileAppCategories.push({ id: "c1", displayName: "Printers" });
    // The lease of an interrupted run holds the next one for this long.
    const run = (text: string) => publishing.run(text, assigned, { LeaseSeconds: "1" });
    return { ...publishing, ids, run };
  }

  type TwoPrinters = Awaited<ReturnType<typeof startWithTwoPrinters>>;

  /** Checks the result: exactly three apps with content, and the printers' apps depend on the driver's. */
  function checkDone({ tenant, ids }: TwoPrinters, where: string): void {
    const driver = appOf(tenant, "driver:1").id;
    const printers = ids.map((id) => appOf(tenant, `printer:${id}`));
    assert.equal(tenant.apps().length, 3, where);
    for (const { id } of [{ id: driver }, ...printers]) {
      assert.ok(tenant.content(id).size > 0, where);
      // A committed version that the run did not use stays, because it looks like one that was in use.
      assert.doesNotMatch(Object.values(tenant.versions(id)).flat().join(), /azure/, where);
    }
    for (const { id } of printers) {
      const { assignments, categories } = tenant.getApp(id);
      const [{ target } = { target: {} }, ...more] = assignments;
      assert.deepEqual([tenant.children(id), more, categories.length], [[driver], [], 1], where);
      assert.equal((target as { groupId?: string }).groupId, group, where);
    }
    assert.ok(printers[0]?.largeIcon, where);
    assert.doesNotMatch(JSON.stringify(tenant.apps().map(({ notes }) => notes)), /platen-lease/, where);
  }

  for (const when of ["before", "after"] as const)
    deepTest(`is finished by the next run after any request (${when} its effect)`, async (t) => {
      const shop = await startWithTwoPrinters(t);
      const { tenant, run } = shop;
      const text = await shop.script(path);
      await run(text);
      const total = tenant.requests.length;
      checkDone(shop, "undisturbed");

      for (let at = 1; at <= total; at++) {
        tenant.clear();
        tenant.stopAt(at, when);
        const broken = await run(text);
        const withoutContent = tenant.apps().filter((app) => !app.committedContentVersion);
        const unnamed = withoutContent.filter(({ id }) => !broken.said.includes(String(id)));
        tenant.faults.clear();
        const finished = await run(text);

        const where = `${when} request ${at}\n${finished.said}`;
        assert.ok(broken.code === 1 || broken.code === 2, where);
        assert.equal(finished.code, 0, where);
        // If the response with the app's id was lost, the app can only be found by its marker.
        assert.ok(unnamed.length === 0 || when === "after", where);
        checkDone(shop, where);
      }
    });

  deepTest(
    "that updates is finished by the next run after any request, and then nothing is left to do",
    async (t) => {
      const shop = await startWithTwoPrinters(t);
      const { service, tenant, run, script, ids } = shop;
      await run(await script(path));
      const start = tenant.requests.length;
      let address = 100;
      const change = async () => {
        const port = { address: `10.0.1.${++address}`, port_name: "", location: `Room ${address}` };
        await editPrinter(service, ids[0] ?? 0, port);
        return script(path);
      };
      await run(await change());
      const total = tenant.requests.length - start;

      for (let at = 1; at <= total; at++) {
        const text = await change();
        tenant.stopAt(at, at % 2 === 0 ? "before" : "after");
        const broken = await run(text);
        tenant.faults.clear();
        const finished = await run(text);
        const since = tenant.requests.length;
        await run(text);

        const where = `request ${at} of ${total}\n${broken.said}`;
        assert.deepEqual([finished.code, changesIn(tenant, since)], [0, []], where);
        checkDone(shop, where);
      }
    },
  );

  test("is finished by the next run, which first deletes the content that was not committed", async (t) => {
    const { tenant, publish, path, app } = await startPublished(t);
    const { id, notes } = app();
    const unnoted = String(notes).replace(/revision:\w+/, "revision:none");
    tenant.change(id, { notes: unnoted, committedContentVersion: null, publishingState: "notPublished" });
    const [file] = tenant.getApp(id).versions.get("1")?.files.values() ?? [];
    Object.assign(file ?? {}, { content: undefined, uploadState: "azureStorageUriRequestSuccess" });

    const run = await publish(path);

    assert.deepEqual([run.code, tenant.apps().length], [0, 1], run.said);
    assert.deepEqual(tenant.versions(id), { 2: ["commitFileSuccess"] });
    assert.ok(tenant.content(id).size > 1000 && !String(app().notes).includes("platen-lease"));
  });
});

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
    const { service, tenant, script, run, id, path, app } = await startPublished(t);
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
    const versions = changesIn(tenant, since).filter((line) => line.endsWith("/contentVersions"));
    assert.equal(versions.length, 1);
    assert.doesNotMatch(String(app().notes), /platen-lease/);
  });

  const leases = [
    ["that has ended is ignored", true, () => new Date(Date.now() - 1000)],
    ["that would last for years is ignored", true, () => new Date(Date.UTC(2100, 0))],
    ["that does not end stops the run", false, () => new Date(Date.now() + 60_000)],
  ] as const;
  for (const [what, isIgnored, until] of selectCases(leases, 2))
    test(`a lease ${what}`, async (t) => {
      const { service, tenant, publish, id, path, app } = await startPublished(t);
      const notes = String(app().notes);
      const [, instance = ""] = /platen:(\w+):/.exec(notes) ?? [];
      const [time = ""] = until().toISOString().replaceAll(/[-:]/g, "").split(".");
      const lease = `platen-lease:${instance}:0123456789ab until:${time}Z`;
      tenant.change(app().id, { notes: `${notes}\n${lease}` });
      await editPrinter(service, id, { location: "Floor 2" });

      const { code, rows, said } = await publish(path, { PassThru: true }, { LeaseWaitSeconds: "1" });

      assert.deepEqual([code, rows[0]?.Result], isIgnored ? [0, "Updated"] : [1, "Failed"], said);
      if (isIgnored) return assert.doesNotMatch(String(app().notes), /platen-lease/);
      assert.deepEqual(changesIn(tenant), []);
      assert.match(rows[0]?.Reason ?? "", /Another run of publish\.ps1 is uploading 'Office'/);
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
      const { tenant, script, run, path } = await startWithPrinter(t);
      const text = await script(path);
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
      const reason = /Another run of publish\.ps1 created this app at the same moment/;
      assert.match(failed[0]?.rows[0]?.Reason ?? "", reason);
      assert.deepEqual([next.code, next.rows[0]?.Result], [0, "Unchanged"]);
    },
  );
});
