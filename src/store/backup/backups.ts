import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  type DatabaseFacts,
  type KeptState,
  newestFirst,
  parseStateName,
  stateName,
  statesThatStay,
} from "../../domain/backup/backup.ts";
import { messageOf } from "../../domain/errors.ts";
import { DamagedDatabase } from "../database/file.ts";
import { noRoom } from "../database/reserve.ts";
import type { SavedState } from "../database/saved-file.ts";
import { freeBytes, makeFolder, noneIfAbsent, writeDurably } from "../durable-files.ts";
import { readFileFacts } from "../records.ts";

/** A state is written only where this much stays free, and four times its size: the next save comes first. */
const leastFreeBytes = 8 * 1024 * 1024;
const leastFreeTimes = 4;

/** The states of the database that are kept: files in `backups/`, as saves wrote them. */
export class Backups {
  readonly #folder: string;
  readonly #clock: () => number;
  /** The newest first. */
  #states: readonly KeptState[] = [];

  constructor(dataDir: string, clock: () => number) {
    this.#folder = join(dataDir, "backups");
    this.#clock = clock;
  }

  /** Finds what is there, and deletes what a crash left half-written and the notes that earlier versions made. */
  async load(): Promise<void> {
    const states: KeptState[] = [];
    for (const file of await readdir(this.#folder).catch(noneIfAbsent)) {
      const state = parseStateName(file.replace(/(?:\.json)?(?:\.new)?$/, ""));
      const found = state && (await stat(this.pathOf(file)));
      if (!found?.isFile()) continue;
      if (state?.name !== file) await rm(this.pathOf(file));
      else states.push({ ...state, size: found.size });
    }
    this.#states = newestFirst(states);
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

  /** Whether a kept state needs a file; true of every file while a state is not read. */
  names(kind: keyof DatabaseFacts["files"], sha256: string): boolean {
    return this.#states.some(
      ({ checked }) => checked === undefined || checked.facts?.files[kind].includes(sha256),
    );
  }

  /**
   * Keeps a state. It counts when it is on disk and was read back.
   * @throws Error of the disk, or that says why it cannot be read: then nothing of it is left
   */
  async write({ bytes, savedAt }: SavedState, isAsked = false): Promise<void> {
    const number = 1 + Math.max(0, ...this.#states.map((state) => state.number));
    const name = stateName({ number, savedAt, isAsked });
    const state = { name, number, savedAt, isAsked, size: bytes.length };
    this.#states = [state, ...this.#states];
    try {
      await makeFolder(this.#folder);
      const free = await freeBytes(this.#folder);
      const needed = bytes.length + Math.max(leastFreeBytes, leastFreeTimes * bytes.length);
      if (free !== undefined && free < needed) throw noRoom();
      await writeDurably(this.pathOf(name), bytes);
      const problem = await this.check(state);
      if (problem !== undefined) throw new Error(`it cannot be read back: ${problem}`);
    } catch (error) {
      await this.#remove(name);
      throw error;
    }
  }

  /** Deletes what is older than the last days with a state, and of those that were asked for all but the newest. */
  async prune(days: number): Promise<void> {
    const staying = statesThatStay(this.#states, days);
    for (const state of this.#states) if (!staying.includes(state)) await this.#remove(state.name);
  }

  /** Reads a state as a start would. @returns why it cannot be read */
  async check({ name }: KeptState): Promise<string | undefined> {
    const path = this.pathOf(name);
    let [facts, problem]: [DatabaseFacts?, string?] = [];
    try {
      facts = (await readFileFacts(path)).facts;
    } catch (error) {
      problem = error instanceof DamagedDatabase ? error.reason : messageOf(error);
    }
    const checked = { at: this.#clock(), facts, problem };
    this.#states = this.#states.map((state) => (state.name === name ? { ...state, checked } : state));
    return problem;
  }

  async #remove(name: string): Promise<void> {
    await rm(this.pathOf(name), { force: true });
    this.#states = this.#states.filter((state) => state.name !== name);
  }
}
