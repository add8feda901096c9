import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { AuditEntry, AuditedEvent } from "../../domain/audit/audit.ts";
import { chainEntry } from "../../domain/audit/audit-chain.ts";
import { exists, makeFolder, ownerOnly, writeAll, writeDurably } from "../durable-files.ts";
import { monthFileAt } from "./files.ts";

/** A line of the log, and where it ends in its file. */
export interface AuditPlace {
  /** 0 before the first entry. */
  readonly seq: number;
  readonly hash: string;
  /** The name of its file; empty when there is none. */
  readonly file: string;
  /** Bytes of the file up to the end of the line. */
  readonly size: number;
}

/** Entries that are on disk, and the place of the last of them. */
interface AppendedEntries {
  readonly entries: readonly AuditEntry[];
  readonly head: AuditPlace;
}

/** Appends to the log. It never changes a written line. */
export class AuditWriter {
  readonly #folder: string;
  readonly #clock: () => number;
  #head: AuditPlace;
  /** Whether a failed write may have left bytes after the last line. */
  #isTorn = false;

  constructor(folder: string, clock: () => number, head: AuditPlace) {
    this.#folder = folder;
    this.#clock = clock;
    this.#head = head;
  }

  /** The place of the last line on disk. */
  get head(): AuditPlace {
    return this.#head;
  }

  /**
   * Adds a line for each event. All lines are on disk when this resolves.
   * @param events `change` is the event's number in the table `changes`, if it was there
   * @throws an error of the disk: no line is added then
   */
  async append(
    events: readonly (AuditedEvent & { readonly change?: number | undefined })[],
  ): Promise<AppendedEntries> {
    let head = this.#head;
    if (events.length === 0) return { entries: [], head };
    // Lines are never added to an older file, even if the clock was set back.
    const name = [monthFileAt(this.#clock()), head.file].sort()[1] ?? head.file;
    const path = join(this.#folder, name);
    if (name !== head.file) await makeIfAbsent(this.#folder, path);
    const entries = events.map((event, i) => ({ ...event, seq: head.seq + 1 + i }));
    const lines: string[] = [];
    for (const entry of entries) {
      const { line, hash } = chainEntry(entry, head.hash);
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

  /** The end of the file, where the next line goes. Bytes that another program wrote stay, on lines of their own. */
  async #endOf(file: FileHandle, name: string): Promise<number> {
    const { size } = await file.stat();
    const expected = name === this.#head.file ? this.#head.size : 0;
    if (size <= expected) return size;
    if (!this.#isTorn) return size + (await writeAll(file, [Buffer.from("\n")]));
    await file.truncate(expected);
    this.#isTorn = false;
    return expected;
  }

  /** @returns the number of bytes written */
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

/** The folder entry of the file must be on disk before lines are written to it. */
async function makeIfAbsent(folder: string, path: string): Promise<void> {
  if (await exists(path)) return;
  await makeFolder(folder);
  await writeDurably(path, new Uint8Array());
}
