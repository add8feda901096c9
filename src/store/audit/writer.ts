import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { AuditEntry, AuditedEvent } from "../../domain/audit/audit.ts";
import { sealed } from "../../domain/audit/audit-chain.ts";
import { isThere, makeFolder, ownerOnly, writeAll, writeDurably } from "../durable-files.ts";
import { monthFileAt } from "./files.ts";

/** A line of the log, and where it ends. */
export interface AuditPlace {
  /** 0 before the first line of all. */
  readonly seq: number;
  readonly hash: string;
  /** The name of its file; empty where there is none. */
  readonly file: string;
  /** Behind the line, in bytes. */
  readonly size: number;
}

/** Entries that are on disk, and the place of the last of them. */
interface Written {
  readonly entries: readonly AuditEntry[];
  readonly head: AuditPlace;
}

/** Appends to the log. It changes nothing that it wrote. */
export class AuditWriter {
  readonly #folder: string;
  readonly #clock: () => number;
  #head: AuditPlace;
  /** Whether bytes of a write that failed may stand behind the last line. */
  #isTorn = false;

  constructor(folder: string, clock: () => number, head: AuditPlace) {
    this.#folder = folder;
    this.#clock = clock;
    this.#head = head;
  }

  /** The last line on disk. */
  get head(): AuditPlace {
    return this.#head;
  }

  /**
   * Adds a line for each event; all of them are on disk when this returns.
   * @param events `change` is the number of the change that an event is of
   * @throws an error of the disk: none is added then
   */
  async append(
    events: readonly (AuditedEvent & { readonly change?: number | undefined })[],
  ): Promise<Written> {
    let head = this.#head;
    if (events.length === 0) return { entries: [], head };
    // A clock that is put back does not lead back to an older file.
    const name = [monthFileAt(this.#clock()), head.file].sort()[1] ?? head.file;
    const path = join(this.#folder, name);
    if (name !== head.file) await makeIfAbsent(this.#folder, path);
    const entries = events.map((event, i) => ({ ...event, seq: head.seq + 1 + i }));
    const lines: string[] = [];
    for (const entry of entries) {
      const { line, hash } = sealed(entry, head.hash);
      lines.push(line, "\n");
      head = { ...head, seq: entry.seq, hash };
    }
    const file = await open(path, "a", ownerOnly);
    try {
      const from = await this.#endOf(file, name);
      const size = from + (await this.#write(file, from, Buffer.from(lines.join(""))));
      this.#head = { ...head, file: name, size };
    } finally {
      await file.close();
    }
    return { entries, head: this.#head };
  }

  /** Where the file ends. What somebody else wrote stays, on lines of its own. */
  async #endOf(file: FileHandle, name: string): Promise<number> {
    const { size } = await file.stat();
    const expected = name === this.#head.file ? this.#head.size : 0;
    if (size <= expected) return size;
    if (!this.#isTorn) return size + (await writeAll(file, [Buffer.from("\n")]));
    await file.truncate(expected);
    this.#isTorn = false;
    return expected;
  }

  /** @returns how many bytes were written */
  async #write(file: FileHandle, from: number, bytes: Uint8Array): Promise<number> {
    try {
      const written = await writeAll(file, [bytes]);
      await file.datasync();
      return written;
    } catch (error) {
      this.#isTorn = true;
      await file.truncate(from).catch(() => {});
      throw error;
    }
  }
}

/** The file is on disk before lines come into it. */
async function makeIfAbsent(folder: string, path: string): Promise<void> {
  if (await isThere(path)) return;
  await makeFolder(folder);
  await writeDurably(path, new Uint8Array());
}
