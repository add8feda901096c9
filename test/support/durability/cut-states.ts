import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { verifyAudit } from "../../../src/store/audit/verify.ts";
import { type TestApp, temporaryFolder } from "../app.ts";
import { entriesIn, entryText } from "../audit/audit.ts";
import { openAt, sha256Of } from "../backup/backup.ts";
import { selectCases } from "../depth.ts";
import { makeDriver } from "../records.ts";
import { fileProblems, type Rows, readState, savedRows } from "./disk-state.ts";
import { digestOf, type LeftFile, RecordedDisk, writeLeft } from "./power-cuts.ts";

/** The files that a power cut left, and the folder in which they are written when they are checked. */
interface CutState {
  readonly folder: string;
  readonly files: readonly LeftFile[];
  readonly where: string;
  /** Whether the first start had finished. Before that nothing is acknowledged, and the next start begins from nothing. */
  readonly isStarted: boolean;
  /** The possible states of the database, by number: from the last acknowledged one to the newest. */
  readonly first: number;
  readonly last: number;
}

/** A state that the service saved. */
interface State {
  readonly rows: Rows;
  /** The number of the last change up to this state. */
  readonly lastChange: number;
}

interface Work {
  readonly start: (t: TestContext, dataDir: string) => Promise<TestApp>;
  /** @param done is called when a write is acknowledged */
  readonly work: (service: TestApp, done: () => void) => Promise<void>;
}

interface Recording {
  readonly left: readonly CutState[];
  readonly states: readonly State[];
  readonly secret: Uint8Array;
  /** The changes in the final audit log. */
  readonly changes: readonly Change[];
}
type Change = readonly [number, string];

/**
 * Runs the service, and starts it again from every state that a power cut after each of its disk calls can leave. The quick
 * tier tries only some of them.
 * @returns the problems, and the number of states
 */
export async function problemsAfterCuts(
  t: TestContext,
  work: Work,
): Promise<{ readonly wrong: readonly string[]; readonly count: number }> {
  const recording = await recordCuts(t, work);
  const wrong: string[] = [];
  for (const one of selectCases(recording.left, 6)) wrong.push(...(await problemsIn(one, recording)));
  return { wrong, count: recording.left.length };
}

/**
 * Whether there is a problem after any of those power cuts.
 * @param skipped files and folders that the disk does not sync
 */
export async function hasProblemsAfterCuts(t: TestContext, work: Work, skipped: RegExp): Promise<boolean> {
  const recording = await recordCuts(t, work, skipped);
  for (const one of recording.left) if ((await problemsIn(one, recording)).length > 0) return true;
  return false;
}

const leftovers = [
  { name: "nothing", part: 0, bytes: () => 0 },
  { name: "names without bytes", part: 1, bytes: () => 0 },
  { name: "the first half", part: 0.5, bytes: (count: number) => count >> 1 },
] as const;

async function recordCuts(t: TestContext, { start, work }: Work, skipped?: RegExp): Promise<Recording> {
  const [root, leftIn] = [await temporaryFolder(t), await temporaryFolder(t)];
  const dataDir = join(root, "data");
  const { capture, states } = watchSaves(join(dataDir, "platen.sqlite"));
  const left: CutState[] = [];
  let [first, isStarted, isOver] = [0, false, false];
  const known = new Set<string>();
  const changed = (disk: RecordedDisk) => {
    if (isOver) return;
    const last = capture();
    for (const { name, part, bytes } of disk.pendingChanges === 0 ? leftovers.slice(0, 1) : leftovers) {
      const files = disk.left({ change: (i) => i < disk.pendingChanges * part, bytes });
      const state = { isStarted, first, last };
      const key = `${JSON.stringify(state)} ${digestOf(files)}`;
      if (known.has(key)) continue;
      known.add(key);
      const folder = join(leftIn, String(left.length));
      left.push({ folder, files, where: `cut ${left.length}, ${name} is kept`, ...state });
    }
  };
  await RecordedDisk.of(t, root, changed, skipped);
  const service = await start(t, dataDir);
  service.app.inspections.inspect = async () => makeDriver().report;
  const done = () => {
    first = capture();
  };
  done();
  const started = first;
  isStarted = true;
  await work(service, done);
  isOver = true;
  await service.stop();
  return {
    left: left.map((one) => (one.isStarted ? one : { ...one, last: started })),
    states: await states(),
    secret: service.app.store.secret,
    changes: changesIn(dataDir),
  };
}

/** Copies the database file whenever it was replaced. */
function watchSaves(path: string) {
  const all: Uint8Array[] = [];
  let known = "";
  const capture = () => {
    const found = statSync(path, { throwIfNoEntry: false });
    const version = `${found?.ino} ${found?.mtimeMs}`;
    if (found !== undefined && version !== known) all.push(new Uint8Array(readFileSync(path)));
    if (found !== undefined) known = version;
    return all.length - 1;
  };
  const states = async () => {
    const read: State[] = [];
    for (const { rows, lastChange } of await Promise.all(all.map(readState)))
      read.push({ rows, lastChange: Math.max(lastChange, read.at(-1)?.lastChange ?? 0) });
    return read;
  };
  return { capture, states };
}

/** Starts from the files that are left. @returns the problems */
async function problemsIn(
  { folder, files, where, isStarted, first, last }: CutState,
  recording: Recording,
): Promise<string[]> {
  const dataDir = join(folder, "data");
  writeLeft(folder, files);
  const store = await openAt(dataDir).catch((error: Error) => error);
  if (store instanceof Error) return [`${where}: ${store.message}`];
  await store.close();
  const rows = await savedRows(dataDir);
  const possible = recording.states.slice(first, last + 1);
  const found = possible.filter((state) => JSON.stringify(state.rows) === JSON.stringify(rows)).at(-1);
  const expected = possible[0]?.rows;
  const isSecret = !isStarted || Buffer.from(store.secret).equals(recording.secret);
  const wrong = [
    ...fileProblems(dataDir, rows).filter((what) => what !== "not needed: lost"),
    ...(found === undefined
      ? [`what is saved is neither the state acknowledged nor a later one: ${differences(expected, rows)}`]
      : []),
    ...(isSecret ? [] : ["another secret"]),
    ...damagedArchives(dataDir, rows),
    ...(await logProblems(dataDir, recording, (found ?? possible[0])?.lastChange ?? 0)),
  ];
  return wrong.map((what) => `${where}: ${what}`);
}

function differences(expected: Rows | undefined, rows: Rows): string {
  const tables = Object.keys(rows) as (keyof Rows)[];
  return tables.filter((table) => JSON.stringify(rows[table]) !== JSON.stringify(expected?.[table])).join();
}

function damagedArchives(dataDir: string, { drivers }: Rows): string[] {
  return drivers.flatMap(({ id, sha256 }) => {
    const path = join(dataDir, "drivers", `${sha256}.zip`);
    const isWhole = existsSync(path) && sha256Of(readFileSync(path)) === sha256;
    return isWhole ? [] : [`half-made: driver ${id}`];
  });
}

/** Checks that the log is complete and has every change of the saved state in order. */
async function logProblems(dataDir: string, { changes }: Recording, lastChange: number): Promise<string[]> {
  const { broken, isTorn } = await verifyAudit(dataDir);
  if (broken !== undefined) return [`the audit log: ${broken.file} ${broken.line}: ${broken.what}`];
  if (isTorn) return ["the audit log: its last line is torn"];
  const expected = changes.filter(([change]) => change <= lastChange).join("\n");
  const found = changesIn(dataDir).join("\n");
  return found === expected ? [] : [`the audit log says\n${found}\nin place of\n${expected}`];
}

/** Each change in the log with its number. */
function changesIn(dataDir: string): Change[] {
  if (!existsSync(join(dataDir, "audit"))) return [];
  return entriesIn(dataDir).flatMap((entry) =>
    entry.change === undefined ? [] : [[entry.change, entryText(entry)] as const],
  );
}
