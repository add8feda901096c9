import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { verifyAudit } from "../../../src/store/audit/verify.ts";
import { openStore } from "../../../src/store/store.ts";
import { type TestApp, temporaryFolder } from "../app.ts";
import { entriesIn, said } from "../audit/audit.ts";
import { some } from "../depth.ts";
import { makeDriver } from "../records.ts";
import { disorderIn, type Rows, readState, savedRows } from "./disk-state.ts";
import { digestOf, RecordedDisk, writeLeft } from "./power-cuts.ts";

/** What a power cut left. */
interface Left {
  readonly folder: string;
  readonly where: string;
  /** Of the first start nothing is acknowledged: it is made again from nothing. */
  readonly isStarted: boolean;
  /** The database's states, by their numbers, that may be what is found: the last one acknowledged, and later ones. */
  readonly first: number;
  readonly last: number;
}

/** What the service had saved, one state after the other. */
interface State {
  readonly rows: Rows;
  /** The last change up to here, by its number. */
  readonly lastChange: number;
}

interface Work {
  readonly start: (t: TestContext, dataDir: string) => Promise<TestApp>;
  /** @param done is told when a write is acknowledged */
  readonly work: (service: TestApp, done: () => void) => Promise<void>;
}

interface Recording {
  readonly left: readonly Left[];
  readonly states: readonly State[];
  readonly secret: Uint8Array;
  /** What the audit log says of changes in the end. */
  readonly changes: readonly Change[];
}
type Change = readonly [number, string];

/**
 * Runs the service, and starts it again from all that a power cut after each of its calls may leave; in the quick tier from
 * some of it.
 * @returns what is wrong then, and how many states of the disk there were
 */
export async function wrongAfterCuts(
  t: TestContext,
  work: Work,
): Promise<{ readonly wrong: readonly string[]; readonly count: number }> {
  const recording = await recorded(t, work);
  const wrong: string[] = [];
  for (const one of some(recording.left, 10)) wrong.push(...(await wrongIn(one, recording)));
  return { wrong, count: recording.left.length };
}

/**
 * Whether anything is wrong after one of those power cuts.
 * @param skipped files and folders that the disk does not sync
 */
export async function isWrongAfterCuts(t: TestContext, work: Work, skipped: RegExp): Promise<boolean> {
  const recording = await recorded(t, work, skipped);
  for (const one of recording.left) if ((await wrongIn(one, recording)).length > 0) return true;
  return false;
}

const ways = [
  { way: "nothing", part: 0, bytes: () => 0 },
  { way: "names without bytes", part: 1, bytes: () => 0 },
  { way: "the first half", part: 0.5, bytes: (count: number) => count >> 1 },
] as const;

async function recorded(t: TestContext, { start, work }: Work, skipped?: RegExp): Promise<Recording> {
  const [root, leftIn] = [await temporaryFolder(t), await temporaryFolder(t)];
  const dataDir = join(root, "data");
  const saved = new SavedStates(join(dataDir, "platen.sqlite"));
  const left: Left[] = [];
  let [first, isStarted, isOver] = [0, false, false];
  const known = new Set<string>();
  const changed = (disk: RecordedDisk) => {
    if (isOver) return;
    saved.look();
    for (const { way, part, bytes } of disk.unsettled === 0 ? ways.slice(0, 1) : ways) {
      const files = disk.left({ change: (i) => i < disk.unsettled * part, bytes });
      const state = { isStarted, first, last: saved.last };
      const key = `${JSON.stringify(state)} ${digestOf(files)}`;
      if (known.has(key)) continue;
      known.add(key);
      const folder = join(leftIn, String(left.length));
      writeLeft(folder, files);
      left.push({ folder, where: `cut ${left.length}, ${way} is kept`, ...state });
    }
  };
  await RecordedDisk.of(t, root, changed, skipped);
  const service = await start(t, dataDir);
  service.app.inspections.inspect = async () => makeDriver().report;
  const done = () => {
    saved.look();
    first = saved.last;
  };
  done();
  const started = first;
  isStarted = true;
  await work(service, done);
  isOver = true;
  await service.stop();
  return {
    left: left.map((one) => (one.isStarted ? one : { ...one, last: started })),
    states: await saved.read(),
    secret: service.app.store.secret,
    changes: changesIn(dataDir),
  };
}

/** Takes what is in the database's place, whenever it is another file. */
class SavedStates {
  readonly #path: string;
  readonly #all: Uint8Array[] = [];
  #known = "";

  constructor(path: string) {
    this.#path = path;
  }

  get last(): number {
    return this.#all.length - 1;
  }

  look(): void {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    const mark = `${found?.ino} ${found?.mtimeMs}`;
    if (found === undefined || mark === this.#known) return;
    this.#known = mark;
    this.#all.push(new Uint8Array(readFileSync(this.#path)));
  }

  async read(): Promise<State[]> {
    const states: State[] = [];
    for (const bytes of this.#all) {
      const { rows, lastChange } = await readState(bytes);
      states.push({ rows, lastChange: Math.max(lastChange, states.at(-1)?.lastChange ?? 0) });
    }
    return states;
  }
}

/** Starts from what is left. @returns what is wrong with it */
async function wrongIn(
  { folder, where, isStarted, first, last }: Left,
  recording: Recording,
): Promise<string[]> {
  const dataDir = join(folder, "data");
  const store = await openStore(dataDir, Date.now, () => {}).catch((error: Error) => error);
  if (store instanceof Error) return [`${where}: ${store.message}`];
  await store.close();
  const rows = await savedRows(dataDir);
  const possible = recording.states.slice(first, last + 1);
  const found = possible.filter((state) => JSON.stringify(state.rows) === JSON.stringify(rows)).at(-1);
  const expected = possible[0]?.rows;
  const isSecret = !isStarted || Buffer.from(store.secret).equals(recording.secret);
  const wrong = [
    ...disorderIn(dataDir, rows).filter((what) => what !== "not needed: lost"),
    ...(found === undefined
      ? [`what is saved is neither the state acknowledged nor a later one: ${differences(expected, rows)}`]
      : []),
    ...(isSecret ? [] : ["another secret"]),
    ...otherArchives(dataDir, rows),
    ...(await wrongInLog(dataDir, recording, (found ?? possible[0])?.lastChange ?? 0)),
  ];
  return wrong.map((what) => `${where}: ${what}`);
}

function differences(expected: Rows | undefined, rows: Rows): string {
  const tables = Object.entries(rows).filter(
    ([table, all]) => JSON.stringify(all) !== JSON.stringify(expected?.[table as keyof Rows]),
  );
  return tables.map(([table]) => table).join();
}

function otherArchives(dataDir: string, { drivers }: Rows): string[] {
  return drivers.flatMap(({ id, sha256 }) => {
    const path = join(dataDir, "drivers", `${sha256}.zip`);
    const isWhole =
      existsSync(path) && createHash("sha256").update(readFileSync(path)).digest("hex") === sha256;
    return isWhole ? [] : [`half-made: driver ${id}`];
  });
}

/** The log is whole, and tells of each change of what is saved, in its order. */
async function wrongInLog(dataDir: string, { changes }: Recording, lastChange: number): Promise<string[]> {
  const { broken, isTorn } = await verifyAudit(dataDir);
  if (broken !== undefined) return [`the audit log: ${broken.file} ${broken.line}: ${broken.what}`];
  if (isTorn) return ["the audit log: its last line is torn"];
  const expected = changes.filter(([change]) => change <= lastChange).join("\n");
  const found = changesIn(dataDir).join("\n");
  return found === expected ? [] : [`the audit log says\n${found}\nin place of\n${expected}`];
}

/** Each change that the log tells of, with its number. */
function changesIn(dataDir: string): Change[] {
  if (!existsSync(join(dataDir, "audit"))) return [];
  return entriesIn(dataDir).flatMap((entry) =>
    entry.change === undefined ? [] : [[entry.change, said(entry)] as const],
  );
}
