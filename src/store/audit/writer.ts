import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { AuditEntry, AuditedEvent } from "../../domain/audit.ts";
import { sealed } from "../../domain/audit-chain.ts";
import { makeFolder, ownerOnly, writeAll, writeDurably } from "../durable-files.ts";
import { isThere } from "../found-files.ts";
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

/** What is to be written; `change` is the number of the change that it is of. */
export type NewEntry = AuditedEvent & { readonly change?: number };

/** Entries that last, and the place of the last of them. */
interface Written {
  readonly entries: readonly AuditEntry[];
  readonly head: AuditPlace;
}

/** So many lines are made at once: nobody waits for more. */
const linesAtOnce = 100;

/** Appends to the log. Nothing that it wrote is ever changed. */
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

  /** The last line that lasts. */
  get head(): AuditPlace {
    return this.#head;
  }

  /** Adds a line for each of these; all of them last when this returns. @throws an error of the disk: none is added then */
  async append(events: readonly NewEntry[]): Promise<Written> {
    const name = this.#fileNow();
    const path = join(this.#folder, name);
    if (name !== this.#head.file) await makeIfAbsent(this.#folder, path);
    const file = await open(path, "a", ownerOnly);
    try {
      const size = await this.#endOf(file, name);
      try {
        const written = await this.#write(file, events, { ...this.#head, file: name, size });
        await file.datasync();
        this.#head = written.head;
        return written;
      } catch (error) {
        this.#isTorn = true;
        await this.#cut(file, size).catch(() => {});
        throw error;
      }
    } finally {
      await file.close();
    }
  }

  /** A clock that is put back does not lead back to an older file. */
  #fileNow(): string {
    const name = monthFileAt(this.#clock());
    const isLater = name > this.#head.file;
    return isLater ? name : this.#head.file;
  }

  /** Where the file ends. What somebody else wrote stays, on lines of its own. */
  async #endOf(file: FileHandle, name: string): Promise<number> {
    const { size } = await file.stat();
    const expected = name === this.#head.file ? this.#head.size : 0;
    if (size > expected && this.#isTorn) {
      await this.#cut(file, expected);
      return expected;
    }
    if (size <= expected) return size;
    return size + (await writeAll(file, [Buffer.from("\n")]));
  }

  async #cut(file: FileHandle, size: number): Promise<void> {
    await file.truncate(size);
    this.#isTorn = false;
  }

  async #write(file: FileHandle, events: readonly NewEntry[], from: AuditPlace): Promise<Written> {
    let head = from;
    const entries: AuditEntry[] = [];
    for (let at = 0; at < events.length; at += linesAtOnce) {
      const lines: string[] = [];
      for (const event of events.slice(at, at + linesAtOnce)) {
        const entry = { ...event, seq: head.seq + 1 };
        const { line, hash } = sealed(entry, head.hash);
        lines.push(line, "\n");
        entries.push(entry);
        head = { ...head, seq: entry.seq, hash };
      }
      head = { ...head, size: head.size + (await writeAll(file, [Buffer.from(lines.join(""))])) };
    }
    return { entries, head };
  }
}

/** As lasting as the lines that come into it. */
async function makeIfAbsent(folder: string, path: string): Promise<void> {
  if (await isThere(path)) return;
  await makeFolder(folder);
  await writeDurably(path, new Uint8Array());
}
