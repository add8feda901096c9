import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startClosed } from "../support/access/people.ts";
import { groupedProxies } from "../support/access/proxies.ts";
import { client, type TestApp, temporaryFolder } from "../support/app.ts";
import { Told, untold, wrongInLog } from "../support/audit/audit-state.ts";
import { some } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { type DiskCall, watchDisk } from "../support/durability/disk-calls.ts";
import { disorderIn, type Rows, savedRows } from "../support/durability/disk-state.ts";
import { type WriteKind, writeKinds } from "../support/durability/write-kinds.ts";
import { makeDriver } from "../support/records.ts";
import { until } from "../support/until.ts";

// Every call that the service makes of its file system while it writes fails once, with every error of these.

const codes = ["ENOSPC", "EIO", "EMFILE", "EROFS"] as const;

interface Fault {
  readonly at: number;
  readonly code: (typeof codes)[number];
}

/** A disk of which one call fails while it is armed. */
async function faultyDisk(t: TestContext, folder: string) {
  let fault: Fault | undefined;
  let count = 0;
  let failed: DiskCall | undefined;
  await watchDisk(t, folder, (call) => {
    if (fault === undefined || ++count !== fault.at) return undefined;
    failed = call;
    throw Object.assign(new Error(`${fault.code}: injected, ${call.name}`), { code: fault.code });
  });
  const arm = (next: Fault) => {
    [fault, count, failed] = [next, 0, undefined];
  };
  /** @returns the call that failed; undefined where there were not so many */
  const disarm = () => {
    fault = undefined;
    return failed;
  };
  return { arm, disarm };
}

/** With sign-in on; an administrator asks. */
async function start(t: TestContext, dataDir: string): Promise<TestApp> {
  const service = await startClosed(t, { dataDir, proxies: groupedProxies() });
  // A process of its own for each upload takes long, and calls this one's file system no differently.
  service.app.inspections.inspect = async () => makeDriver().report;
  return { ...service, ...client(service.url, { "remote-user": "boss", "remote-groups": "platen-admins" }) };
}

interface Attempt {
  readonly service: TestApp;
  readonly disk: Awaited<ReturnType<typeof faultyDisk>>;
  readonly kind: WriteKind;
  readonly fault: Fault;
  /** Another one for each attempt. */
  readonly n: number;
  /** What lies around of attempts before. */
  readonly known: Set<string>;
}

/** Does it once with this fault. @returns what was wrong; undefined where there were not so many calls */
async function tryWith(attempt: Attempt): Promise<string[] | undefined> {
  const { service, disk, kind, fault, n } = attempt;
  const { dataDir } = service;
  const id = (await kind.prepare?.(service, n)) ?? 0;
  const before = await savedRows(dataDir);
  disk.arm(fault);
  const answer = await kind.act(service, id, n);
  const text = await answer.text();
  const failed = disk.disarm();
  if (failed === undefined) return undefined;
  const after = await savedRows(dataDir);
  const isChanged = JSON.stringify(after) !== JSON.stringify(before);
  const wrong = [
    ...wrongIn(answer, text, fault, isChanged),
    ...(await wrongNext(service, n, after)),
    ...(await newDisorder(attempt, failed)),
    ...(await wrongTold(attempt.service)),
  ];
  const where = `${fault.code} at call ${fault.at}, ${failed.name} ${failed.path.slice(dataDir.length)}`;
  return wrong.map((what) => `${where}: ${what}`);
}

/** An answer says what is true, and a refusal says why. */
function wrongIn({ status }: Response, text: string, { code }: Fault, isChanged: boolean): string[] {
  if (status < 400) return isChanged ? [] : [`answered ${status}, and nothing was saved`];
  const isClear = status === (code === "ENOSPC" ? 507 : 500) && /othing was (?:saved|changed)/.test(text);
  const lie = isChanged ? [`answered ${status}, and it was saved`] : [];
  return isClear ? lie : [...lie, `answered ${status}: ${text.slice(0, 200)}`];
}

/** The next write is done, and brings nothing along. */
async function wrongNext({ dataDir, post, fetch, app }: TestApp, n: number, after: Rows): Promise<string[]> {
  const answers = [await post("/clients", { name: `Next ${n}` }), await fetch("/health")];
  const now = await savedRows(dataDir);
  const others = { ...now, clients: now.clients.filter(({ name }) => name !== `Next ${n}`) };
  // Each driver of a list takes a call.
  for (const { id } of app.store.drivers.list())
    if (id > 1) await app.undo.end((await app.undo.removeDriver(id)) ?? 0);
  const statuses = answers.map(({ status }) => status).join();
  return [
    ...(statuses === "200,200" ? [] : [`then the service answers ${statuses}`]),
    ...(JSON.stringify(others) === JSON.stringify(after) ? [] : ["the next write changed more than its own"]),
  ];
}

/** What is saved stands in the audit log, whatever of it could not be written at first. */
async function wrongTold({ app, dataDir }: TestApp): Promise<string[]> {
  await app.store.audit.flush();
  return untold(dataDir, await savedRows(dataDir), new Told());
}

/** Files that nobody needs, or that are missing; what the disk refused to delete waits for the next start. */
async function newDisorder({ service: { dataDir }, known }: Attempt, { name }: DiskCall): Promise<string[]> {
  const find = async () => disorderIn(dataDir, await savedRows(dataDir)).filter((what) => !known.has(what));
  if (name !== "rm") await until(async () => (await find()).length === 0).catch(() => {});
  const found = await find();
  for (const what of found) known.add(what);
  return name === "rm" ? [] : found;
}

for (const [name, kind] of some(Object.entries(writeKinds), 3)) {
  test(`${name}: whatever call of the disk fails, it is said, and nothing is lost or left`, async (t) => {
    const dataDir = await temporaryFolder(t);
    const disk = await faultyDisk(t, dataDir);
    const service = await start(t, dataDir);
    await service.addDriver(driverZip({ version: "0.1" }));
    const wrong: string[] = [];
    const known = new Set<string>();
    let n = 0;
    const counts: number[] = [];

    for (const code of some(codes, 1)) {
      let calls = 0;
      for (let at = 1; ; at++) {
        const found = await tryWith({ service, disk, kind, fault: { at, code }, n: n++, known });
        if (found === undefined) break;
        calls++;
        wrong.push(...found);
      }
      counts.push(calls);
      await service.app.store.audit.flush();
      wrong.push(...(await wrongInLog(dataDir, await savedRows(dataDir), new Told())));
    }
    await service.stop();
    const again = await start(t, dataDir);
    const rows = await savedRows(dataDir);
    wrong.push(...disorderIn(dataDir, rows).map((what) => `after the next start: ${what}`));
    await again.stop();
    wrong.push(...(await wrongInLog(dataDir, rows, new Told())));

    t.diagnostic(`${counts.join()} calls failed`);
    for (const calls of counts) assert.ok(calls >= kind.calls, `${counts.join()} calls`);
    assert.deepEqual(wrong, []);
  });
}
