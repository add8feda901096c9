import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  type DatabaseFacts,
  type KeptState,
  newestFirst,
  parseStateName,
  stateName,
  statesToKeep,
} from "../../domain/backup/backup.ts";
import { errorMessage } from "../../domain/errors.ts";
import { DamagedDatabase } from "../database/file.ts";
import { diskFullError } from "../database/reserve.ts";
import type { SavedState } from "../database/saved-file.ts";
import { freeBytes, makeFolder, noneIfAbsent, writeDurably } from "../durable-files.ts";
import { readFileFacts } from "../records.ts";

/** A state is written only if this much space stays free, and at least four times its size, for saves of the database. */
const minFreeBytes = 8 * 1024 * 1024;
const minFreeFactor = 4;

/** The kept states of the database: copies of its file in `backups/`. */
export class Backups {
  readonly #folder: string;
  readonly #clock: () => number;
  /** Newest first. */
  #states: readonly KeptState[] = [];

  constructor(dataDir: string, clock: () => number) {
    this.#folder = join(dataDir, "backups");
    this.#clock = clock;
  }

  /** Finds the kept states. It deletes incomplete files that a crash left, and `.json` files of earlier versions. */
  async load(): Promise<void> {
    const states: KeptState[] = [];
    for (const file of await readdir(this.#folder).catch(noneIfAbsent)) {
      const state = parseStateName(file.replace(/(?:\.json)?(?:(?:\.[0-9a-f]{8})?\.new)?$/, ""));
      const found = state && (await stat(this.pathOf(file)));
      if (!found?.isFile()) continue;
      if (state?.name !== file) await rm(this.pathOf(file));
      else states.push({ ...state, size: found.size });
    }
    this.#states = newestFirst(states);
  }

  /** Newest first. */
  list(): readonly KeptState[] {
    return this.#states;
  }

  find(name: string): KeptState | undefined {
    return this.#states.find((state) => state.name === name);
  }

  pathOf(name: string): string {
    return join(this.#folder, name);
  }

  /** Whether a kept state needs a file. True for every file while any state is still unread. */
  needsFile(kind: keyof DatabaseFacts["files"], sha256: string): boolean {
    return this.#states.some(
      ({ checked }) => checked === undefined || checked.facts?.files[kind].includes(sha256),
    );
  }

  /**
   * Writes a state and reads it back.
   * @param isManual whether a user requested it
   * @throws an error of the disk, or Error that says why the state cannot be read; its file is deleted then
   */
  async write({ bytes, savedAt }: SavedState, isManual = false): Promise<void> {
    const number = 1 + Math.max(0, ...this.#states.map((state) => state.number));
    const name = stateName({ number, savedAt, isManual });
    const state = { name, number, savedAt, isManual, size: bytes.length };
    this.#states = [state, ...this.#states];
    try {
      await makeFolder(this.#folder);
      const free = await freeBytes(this.#folder);
      const needed = bytes.length + Math.max(minFreeBytes, minFreeFactor * bytes.length);
      if (free !== undefined && free < needed) throw diskFullError();
      await writeDurably(this.pathOf(name), bytes);
      const problem = await this.check(state);
      if (problem !== undefined) throw new Error(`it cannot be read back: ${problem}`);
    } catch (error) {
      await this.#remove(name);
      throw error;
    }
  }

  /** Deletes the states that `statesToKeep` does not name. */
  async prune(days: number): Promise<void> {
    const staying = statesToKeep(this.#states, days);
    for (const state of this.#states) if (!staying.includes(state)) await this.#remove(state.name);
  }

  /** Reads a state as a start would, and stores the result. @returns why it cannot be read */
  async check({ name }: KeptState): Promise<string | undefined> {
    const path = this.pathOf(name);
    let [facts, problem]: [DatabaseFacts?, string?] = [];
    try {
      facts = (await readFileFacts(path)).facts;
    } catch (error) {
      problem = error instanceof DamagedDatabase ? error.reason : errorMessage(error);
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
