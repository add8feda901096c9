import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import type { Store } from "../../src/store/store.ts";
import { type TestApp, temporaryFolder } from "../support/app.ts";
import { AcknowledgedChanges, logProblems, missingEntries } from "../support/audit/audit-state.ts";
import { openAt } from "../support/backup/backup.ts";
import { rounds, selectCases } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { type DiskCall, watchDisk } from "../support/durability/disk-calls.ts";
import { fileProblems, type Rows, savedRows } from "../support/durability/disk-state.ts";
import { startForWrites, type WriteKind, writeKinds } from "../support/durability/write-kinds.ts";
import { until } from "../support/until.ts";

// Every file system call of the service during a write, or a first start, fails once with each of these errors.

const codes = ["ENOSPC", "EIO", "EMFILE", "EROFS"] as const;

/** The number of the call that fails, and its error. */
interface Fault {
  readonly at: number;
  readonly code: (typeof codes)[number];
}

/** A disk on which one call fails while work runs. */
async function faultyDisk(t: TestContext, folder: string) {
  let [fault, count, failed]: [Fault | undefined, number, DiskCall | undefined] = [undefined, 0, undefined];
  await watchDisk(t, folder, (call) => {
    if (fault === undefined || ++count !== fault.at) return undefined;
    failed = call;
    throw Object.assign(new Error(`${fault.code}: injected, ${call.name}`), { code: fault.code });
  });
  /** @returns the result, and the call that failed, as `EIO at call 3, rename /path`; undefined when there were fewer calls */
  return async <T>(next: Fault, work: () => Promise<T>) => {
    [fault, count, failed] = [next, 0, undefined];
    const result = await work();
    fault = undefined;
    const call = failed as DiskCall | undefined;
    const where = `${next.code} at call ${next.at}, ${call?.name} ${call?.path.slice(folder.length)}`;
    return { result, failed: call && { name: call.name, where } };
  };
}

interface Attempt {
  readonly service: TestApp;
  readonly whileFailing: Awaited<ReturnType<typeof faultyDisk>>;
  readonly kind: WriteKind;
  readonly fault: Fault;
  /** Differs for each attempt. */
  readonly n: number;
  /** File problems from earlier attempts. */
  readonly known: Set<string>;
}

/** Sends the write once with this fault. @returns the problems; undefined when there were fewer calls */
async function tryWith(attempt: Attempt): Promise<string[] | undefined> {
  const { service, whileFailing, kind, fault, n } = attempt;
  const { dataDir, app } = service;
  const id = (await kind.prepare?.(service, n)) ?? 0;
  const before = JSON.stringify(await savedRows(dataDir));
  const { result, failed } = await whileFailing(fault, async () => {
    const answer = await kind.act(service, id, n);
    return { status: answer.status, text: await answer.text() };
  });
  if (failed === undefined) return undefined;
  const after = await savedRows(dataDir);
  const wrong = [
    ...answerProblems(result, fault, JSON.stringify(after) !== before),
    ...(await nextWriteProblems(service, n, after)),
    ...(await newFileProblems(attempt, failed.name)),
  ];
  // The audit log must have every saved change, also those that could not be written at first.
  await app.store.audit.flush();
  wrong.push(...missingEntries(dataDir, await savedRows(dataDir), new AcknowledgedChanges()));
  return wrong.map((what) => `${failed.where}: ${what}`);
}

/** The answer must match what was saved, and a refusal must give the reason. */
function answerProblems(
  { status, text }: { readonly status: number; readonly text: string },
  { code }: Fault,
  isChanged: boolean,
): string[] {
  const isRefused = status >= 400;
  const reason = code === "ENOSPC" ? /The disk is full\. Nothing was saved/ : /othing was (?:saved|changed)/;
  const isClear = status === (code === "ENOSPC" ? 507 : 500) && reason.test(text);
  return [
    ...(isRefused === isChanged ? [`answered ${status}, and it was ${isChanged ? "" : "not "}saved`] : []),
    ...(isRefused && !isClear ? [`answered ${status}: ${text.slice(0, 200)}`] : []),
  ];
}

/** The next write must succeed and change nothing else. */
async function nextWriteProblems({ dataDir, post, fetch, app }: TestApp, n: number, after: Rows) {
  const answers = [await post("/clients", { name: `Next ${n}` }), await fetch("/health")];
  const now = await savedRows(dataDir);
  const others = { ...now, clients: now.clients.filter(({ name }) => name !== `Next ${n}`) };
  // Delete new drivers, because each driver in a list costs a disk call.
  for (const { id } of app.store.drivers.list())
    if (id > 1) await app.undo.makeFinal((await app.undo.removeDriver(id)) ?? 0);
  const statuses = answers.map(({ status }) => status).join();
  return [
    ...(statuses === "200,200" ? [] : [`then the service answers ${statuses}`]),
    ...(JSON.stringify(others) === JSON.stringify(after) ? [] : ["the next write changed more than its own"]),
  ];
}

/** New stray or missing files. A file that the disk refused to delete may stay until the next start. */
async function newFileProblems({ service: { dataDir }, known }: Attempt, call: string): Promise<string[]> {
  const find = async () => fileProblems(dataDir, await savedRows(dataDir)).filter((what) => !known.has(what));
  if (call !== "rm") await until(async () => (await find()).length === 0).catch(() => {});
  const found = await find();
  for (const what of found) known.add(what);
  return call === "rm" ? [] : found;
}

for (const [name, kind] of selectCases(Object.entries(writeKinds), 2)) {
  test(`${name}: when a disk call fails, the answer says so, and nothing is lost or left behind`, async (t) => {
    const dataDir = await temporaryFolder(t);
    const whileFailing = await faultyDisk(t, dataDir);
    const service = await startForWrites(t, dataDir);
    await service.addDriver(driverZip({ version: "0.1" }));
    const wrong: string[] = [];
    const known = new Set<string>();
    let n = 0;
    const counts: number[] = [];

    for (const code of selectCases(codes, 1)) {
      let calls = 0;
      for (let at = 1; ; at++) {
        const found = await tryWith({ service, whileFailing, kind, fault: { at, code }, n: n++, known });
        if (found === undefined) break;
        calls++;
        wrong.push(...found);
      }
      counts.push(calls);
      await service.app.store.audit.flush();
      wrong.push(...(await logProblems(dataDir, await savedRows(dataDir), new AcknowledgedChanges())));
    }
    await service.stop();
    const next = await startForWrites(t, dataDir);
    const rows = await savedRows(dataDir);
    wrong.push(...fileProblems(dataDir, rows).map((what) => `after the next start: ${what}`));
    await next.stop();
    wrong.push(...(await logProblems(dataDir, rows, new AcknowledgedChanges())));

    t.diagnostic(`${counts.join()} calls failed`);
    for (const calls of counts) assert.ok(calls >= kind.calls, `${counts.join()} calls`);
    assert.deepEqual(wrong, []);
  });
}

const expectedFiles =
  /^(?:platen\.sqlite(?:\.reserve)?|secret|drivers|icons|preferences|signatures|incoming|audit)$/;

/** Starts again after a first start with a failed call. @returns the problems */
async function problemsAfter(folder: string, first: Store | Error, code: string): Promise<string[]> {
  const second = await openAt(folder);
  await second.clients.add(parseClient({ name: "Works" }));
  await second.close();
  const strays = readdirSync(folder).filter((name) => !expectedFiles.test(name));
  const wrong = strays.map((name) => `leaves ${name}`);
  if (first instanceof Error) return first.message.includes(code) ? wrong : [...wrong, first.message];
  return Buffer.from(first.secret).equals(second.secret) ? wrong : [...wrong, "another secret"];
}

test("when a disk call fails at a first start, the error says so, and the next start works", async (t) => {
  const parent = await temporaryFolder(t);
  const whileFailing = await faultyDisk(t, parent);
  const wrong: string[] = [];
  let count = 0;

  for (const code of selectCases(codes, 1)) {
    for (let at = 1; ; at += rounds(9, 1)) {
      const folder = join(parent, `${code}-${at}`);
      const start = () => openAt(folder).catch((error: Error) => error);
      const { result: first, failed } = await whileFailing({ at, code }, start);
      if (!(first instanceof Error)) await first.close();
      if (failed === undefined) break;
      count++;
      const found = await problemsAfter(folder, first, code);
      // A file that the disk refused to delete may stay.
      const isStray = (what: string) => failed.name === "rm" && what.startsWith("leaves");
      wrong.push(...found.filter((what) => !isStray(what)).map((what) => `${failed.where}: ${what}`));
    }
  }

  t.diagnostic(`${count} calls failed`);
  assert.ok(count > rounds(3, 100), `${count}`);
  assert.deepEqual(wrong, []);
});
