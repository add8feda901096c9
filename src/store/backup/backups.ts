import { type FileHandle, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  type DatabaseFacts,
  dayOf,
  type GoodState,
  isAsked,
  isGood,
  type KeptState,
  stateName,
  statesThatStay,
  stateTime,
} from "../../domain/backup.ts";
import { messageOf } from "../../domain/errors.ts";
import { noRoom } from "../database/reserve.ts";
import type { SavedState } from "../database/saved-file.ts";
import { makeFolder, moveIntoPlace, writeDurably, writeSynced } from "../durable-files.ts";
import { freeBytes, noneIfAbsent } from "../found-files.ts";
import { checkedIn, noteText } from "./state-notes.ts";

/** Reads a database's file as a start would. @throws Error that says why it cannot be used */
type CheckFile = (path: string) => Promise<DatabaseFacts>;

const mebi = 1024 * 1024;
/** So much stays free whatever is kept, and four times what is written: what is saved next comes first. */
const leastFreeBytes = 8 * mebi;
const leastFreeTimes = 4;
const pieceBytes = mebi;

/** The states of the database that are kept: `backups/platen-<UTC time>.sqlite`, each with a note of what it holds. */
export class Backups {
  readonly #folder: string;
  readonly #clock: () => number;
  #states: readonly KeptState[] = [];
  /** How many are being written or read: what they name is not known yet. */
  #unknown = 0;

  constructor(dataDir: string, clock: () => number) {
    this.#folder = join(dataDir, "backups");
    this.#clock = clock;
  }

  /** Finds what is there, and deletes what a crash left half-written. */
  async load(): Promise<void> {
    const names = await readdir(this.#folder).catch(noneIfAbsent);
    for (const name of names) if (isUnfinished(name, names)) await rm(join(this.#folder, name));
    const states: KeptState[] = [];
    for (const name of names
      .filter((candidate) => stateTime(candidate) !== undefined)
      .sort()
      .reverse()) {
      const found = await stat(this.pathOf(name)).catch(() => undefined);
      if (!found?.isFile()) continue;
      const note = await readFile(notePath(this.pathOf(name)), "utf8").catch(() => "");
      states.push({
        name,
        savedAt: stateTime(name) ?? 0,
        size: found.size,
        checked: checkedIn(note, found.size),
      });
    }
    this.#states = states;
  }

  /** All of them, the newest first. */
  list(): readonly KeptState[] {
    return this.#states;
  }

  find(name: string): KeptState | undefined {
    return this.#states.find((state) => state.name === name);
  }

  pathOf(name: string): string {
    return join(this.#folder, name);
  }

  /** Whether this state, or a later one of its day, is kept. */
  has(savedAt: number): boolean {
    return this.#states.some(
      (state) => isGood(state) && state.savedAt >= savedAt && dayOf(state.savedAt) === dayOf(savedAt),
    );
  }

  /** Whether a kept state needs a file, as far as is known. */
  names(kind: keyof DatabaseFacts["files"], sha256: string): boolean {
    if (this.#unknown > 0) return true;
    return this.#states.some(
      (state) =>
        state.checked === undefined || (isGood(state) && state.checked.facts.files[kind].includes(sha256)),
    );
  }

  /** Whether this very state is kept because somebody asked for it. */
  hasAsked(savedAt: number): boolean {
    return this.#states.some((state) => isGood(state) && isAsked(state) && state.savedAt === savedAt);
  }

  /**
   * Keeps a state, in place of earlier ones of the same day that nobody asked for. It counts when it is on disk and was
   * read back.
   * @param asked whether somebody asked for it
   * @throws Error of the disk, or of `check`: then nothing of it is left, and all others are
   */
  async write({ bytes, savedAt }: SavedState, check: CheckFile, asked = false): Promise<void> {
    const name = stateName(savedAt, asked);
    const [path, unfinished] = [this.pathOf(name), this.pathOf(`${name}.new`)];
    this.#unknown++;
    try {
      await makeFolder(this.#folder);
      await this.#requireRoom(bytes.length);
      await writeSynced(unfinished, bytes);
      await compare(unfinished, bytes);
      const facts = await check(unfinished);
      if (facts.savedAt !== savedAt) throw new Error("it is another state than was written");
      await this.#note(name, bytes.length, facts);
      await moveIntoPlace(unfinished, path);
      const isReplaced = (state: KeptState) =>
        dayOf(state.savedAt) === dayOf(savedAt) && state.savedAt <= savedAt && !isAsked(state);
      const replaced = this.#states.filter((state) => isReplaced(state) && state.name !== name);
      const rest = this.#states.filter((state) => !isReplaced(state));
      const checked = { at: this.#clock(), facts };
      this.#states = newestFirst([...rest, ...replaced, { name, savedAt, size: bytes.length, checked }]);
      for (const state of replaced) await this.#remove(state);
    } catch (error) {
      await rm(unfinished, { force: true });
      if (this.find(name) === undefined) await rm(notePath(path), { force: true });
      throw error;
    } finally {
      this.#unknown--;
    }
  }

  /** Reads a state that was not read yet. */
  async check(name: string, check: CheckFile): Promise<void> {
    const state = this.find(name);
    if (state === undefined) return;
    const at = this.#clock();
    let checked: KeptState["checked"];
    try {
      const facts = await check(this.pathOf(name));
      checked = { at, facts };
      await this.#note(name, state.size, facts).catch(() => {});
    } catch (error) {
      checked = { at, problem: messageOf(error) };
    }
    this.#states = this.#states.map((found) => (found === state ? { ...state, checked } : found));
  }

  /** Deletes what is older than so many days with a state, and of those that were asked for all but the newest. */
  async prune(days: number): Promise<void> {
    const staying = statesThatStay(this.#states, days);
    for (const state of this.#states) if (!staying.includes(state)) await this.#remove(state);
  }

  /** The newest one that can be read, with its bytes. @param read as a start would */
  async newestGood(
    read: (path: string, bytes: Uint8Array) => Promise<DatabaseFacts>,
  ): Promise<{ readonly state: GoodState; readonly bytes: Uint8Array } | undefined> {
    for (const state of this.#states) {
      const path = this.pathOf(state.name);
      try {
        const bytes = new Uint8Array(await readFile(path));
        return { state: { ...state, checked: { at: this.#clock(), facts: await read(path, bytes) } }, bytes };
      } catch {
        // The one before it may be whole.
      }
    }
    return undefined;
  }

  async #remove(state: KeptState): Promise<void> {
    await rm(this.pathOf(state.name), { force: true });
    await rm(notePath(this.pathOf(state.name)), { force: true });
    this.#states = this.#states.filter((found) => found !== state);
  }

  async #note(name: string, size: number, facts: DatabaseFacts): Promise<void> {
    const text = noteText({ size, at: this.#clock(), facts });
    await writeDurably(notePath(this.pathOf(name)), Buffer.from(text));
  }

  /** Where the system does not tell, there is room. */
  async #requireRoom(bytes: number): Promise<void> {
    const free = await freeBytes(this.#folder);
    const least = bytes + Math.max(leastFreeBytes, leastFreeTimes * bytes);
    if (free !== undefined && free < least) throw noRoom();
  }
}

function newestFirst(states: readonly KeptState[]): KeptState[] {
  return [...states].sort((a, b) => (a.name < b.name ? 1 : -1));
}

function notePath(path: string): string {
  return `${path}.json`;
}

/** Of our own names: what was being written, and notes of states that are not there. */
function isUnfinished(name: string, names: readonly string[]): boolean {
  const of = name.replace(/\.new$/, "").replace(/\.json$/, "");
  return of !== name && stateTime(of) !== undefined && (name.endsWith(".new") || !names.includes(of));
}

/** @throws Error where a file does not hold these bytes */
async function compare(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, "r");
  try {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const expected = bytes.subarray(at, at + pieceBytes);
      if (!(await readPiece(handle, at, expected.length)).equals(expected))
        throw new Error("the disk gives back other bytes than were written");
    }
    if ((await handle.stat()).size !== bytes.length)
      throw new Error("the disk gives back more than was written");
  } finally {
    await handle.close();
  }
}

async function readPiece(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
