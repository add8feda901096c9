import {
  type AuditEntry,
  type AuditedEvent,
  type AuditedRecord,
  type DownloadedPrinter,
  mostPrinters,
  type NotedEvent,
} from "../../domain/audit.ts";
import { readLine } from "../../domain/audit-chain.ts";
import { messageOf } from "../../domain/errors.ts";
import { type Actor, currentActor, itself } from "./actor.ts";
import { AuditBounds, countedForMs } from "./bounds.ts";
import type { AuditExpiry } from "./expiry.ts";
import { logLines } from "./files.ts";
import type { AuditPlace, AuditWriter, NewEntry } from "./writer.ts";

/** What there is to say of an event that changes no record. */
interface Noted {
  readonly record?: AuditedRecord | undefined;
  /** In few words. */
  readonly what?: string;
  /** Whoever asked, unless this says who it was. */
  readonly actor?: Actor;
}

/** A download that went out whole. */
export interface AuditedDownload extends Noted {
  readonly what: string;
  /** A class of clients. */
  readonly by: string;
  /** Names its bytes. */
  readonly digest: string;
  /** Those that it counts for. */
  readonly printers?: readonly DownloadedPrinter[];
}

/** Changes that are in the database and may not be in the log yet. */
interface PendingChanges {
  /** The next ones by number. */
  after(change: number): readonly NewEntry[];
  /** Where the log begins, as the database that is saved knows it. */
  place(name: "start"): AuditPlace | undefined;
}

/** Where the log stands, and what writes and removes its files. */
interface AuditFiles {
  readonly folder: string;
  readonly writer: AuditWriter;
  readonly expiry: AuditExpiry;
}

/** @param place of the last of them */
type Listener = (entries: readonly AuditEntry[], place: AuditPlace) => void;

/** Lines wait so long for others, which are synced with them. */
const writtenAfterMs = 100;
/** What could not be written is tried again after so long. */
const againMs = 5000;
/** So many are written at once. */
const writtenAtOnce = 1000;
/** So many wait in memory at most; changes wait in the database. */
const mostWaiting = 20_000;

/**
 * The audit log: who did what, when, from where and to which record. Whoever notes something waits for nothing; it lasts a
 * moment later, many lines with one sync.
 */
export class AuditLog {
  /** The folder of its files. */
  readonly folder: string;
  readonly #writer: AuditWriter;
  readonly #expiry: AuditExpiry;
  readonly #changes: PendingChanges;
  readonly #clock: () => number;
  readonly #log: (line: string) => void;
  readonly #bounds = new AuditBounds();
  readonly #listeners: Listener[] = [];
  readonly #waiting: AuditedEvent[] = [];
  /** Changes that the log has, though the database may still hold them. */
  readonly #known: ReadonlySet<number>;
  #lastChange = 0;
  #lost = 0;
  #timer: NodeJS.Timeout | undefined;
  #counting: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #hasFailed = false;
  #isClosed = false;

  /** @param known the numbers of changes that the log has already */
  constructor(
    { folder, writer, expiry }: AuditFiles,
    changes: PendingChanges,
    known: ReadonlySet<number>,
    { clock, log }: { readonly clock: () => number; readonly log: (line: string) => void },
  ) {
    this.folder = folder;
    this.#writer = writer;
    this.#expiry = expiry;
    this.#changes = changes;
    this.#known = known;
    this.#clock = clock;
    this.#log = log;
  }

  /** The last line that lasts. */
  get head(): AuditPlace {
    return this.#writer.head;
  }

  /** The line that the chain begins behind, once the database knows it. */
  get start(): AuditPlace {
    return this.#expiry.start;
  }

  /** The number of the last change that is in the log. */
  get lastChange(): number {
    return this.#lastChange;
  }

  /** Writes down what happened and changed no record. Never fails, and waits for nothing. */
  note(event: NotedEvent, { actor = currentActor(), ...noted }: Noted = {}): void {
    this.#add({ at: this.#clock(), who: actor.who, from: actor.from, event, ...noted });
  }

  /** Likewise of a download. */
  downloaded({ actor = currentActor(), printers, ...download }: AuditedDownload): void {
    const event = {
      at: this.#clock(),
      who: actor.who,
      from: actor.from,
      event: "downloaded",
      ...download,
    } as const;
    if (printers === undefined) this.#add(event);
    else
      for (let at = 0; at < printers.length; at += mostPrinters)
        this.#add({ ...event, printers: printers.slice(at, at + mostPrinters) });
  }

  /** What the log says behind a place, as far as it is written. */
  async *entriesBehind(
    place: AuditPlace,
  ): AsyncGenerator<{ readonly entry: AuditEntry; readonly place: AuditPlace }> {
    for await (const { text, file, end } of logLines(this.folder, place)) {
      const line = text === undefined ? undefined : readLine(text);
      if (line === undefined) continue;
      const { entry, hash } = line;
      yield { entry, place: { seq: entry.seq, hash, file, size: end } };
    }
  }

  /** Is told of lines as soon as they last, in their order. */
  onWritten(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Says that the database may hold changes that the log lacks. */
  wake(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.flush(), this.#hasFailed ? againMs : writtenAfterMs);
    this.#timer.unref();
  }

  /** Writes what waits. Whatever stands in the way, it does not fail: what is a change stays in the database. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#writing;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  /** Writes all there is, and nothing more. */
  async close(): Promise<void> {
    this.#takeCounted();
    this.#isClosed = true;
    await this.flush();
  }

  #add(event: AuditedEvent): void {
    const now = this.#bounds.admit(event);
    if (now === undefined) {
      this.#counting ??= setTimeout(() => this.#takeCounted(), countedForMs).unref();
      return;
    }
    if (this.#waiting.length < mostWaiting) this.#waiting.push(now);
    else this.#lost++;
    this.wake();
  }

  #takeCounted(): void {
    clearTimeout(this.#counting);
    this.#counting = undefined;
    this.#waiting.push(...this.#bounds.take());
    this.wake();
  }

  async #writeAll(): Promise<void> {
    try {
      await this.#removeExpired();
      while (await this.#writeSome()) this.#hasFailed = false;
    } catch (error) {
      // Said once, not for every line.
      if (!this.#hasFailed) this.#log(`warning: the audit log cannot be written: ${messageOf(error)}`);
      this.#hasFailed = true;
      this.wake();
    }
  }

  /** @returns whether there was anything to write */
  async #writeSome(): Promise<boolean> {
    const changes = this.#changes.after(this.#lastChange);
    const fresh = changes.filter(({ change }) => !this.#known.has(change ?? 0));
    const events = this.#waiting.slice(0, writtenAtOnce);
    const lost = this.#lost > 0 ? [this.#lossOf(this.#lost)] : [];
    const all = [...merged(fresh, events), ...lost];
    if (all.length > 0) {
      const { file } = this.head;
      const { entries, head } = await this.#writer.append(all);
      if (head.file !== file) await this.#expiry.look(this.#clock());
      this.#waiting.splice(0, events.length);
      if (lost.length > 0) this.#lost = 0;
      for (const listener of this.#listeners) listener(entries, head);
    }
    this.#lastChange = changes.at(-1)?.change ?? this.#lastChange;
    return all.length > 0 || changes.length > 0;
  }

  async #removeExpired(): Promise<void> {
    const expired = await this.#expiry.remove(this.#changes.place("start"));
    if (expired === undefined) return;
    const what = `${expired.names.join(", ")}: all up to entry ${expired.start.seq}, because of their age`;
    this.note("log-shortened", { what, actor: itself });
  }

  #lossOf(count: number): AuditedEvent {
    const what = "downloads and sign-ins that there was no room to write down";
    return { at: this.#clock(), ...itself, event: "log-broken", what, count };
  }
}

/** By their times; of each by itself the order stays, also by a clock that was put back. */
function merged(changes: readonly NewEntry[], events: readonly NewEntry[]): NewEntry[] {
  const all: NewEntry[] = [];
  let next = 0;
  for (const change of changes) {
    for (let event = events[next]; event !== undefined && event.at < change.at; event = events[next]) {
      all.push(event);
      next++;
    }
    all.push(change);
  }
  return [...all, ...events.slice(next)];
}
