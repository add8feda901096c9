import type { AuditEntry, AuditedEvent, DownloadedRange, NotedEvent } from "../../domain/audit.ts";
import { readLine } from "../../domain/audit-chain.ts";
import { messageOf } from "../../domain/errors.ts";
import { itself } from "./actor.ts";
import { type AuditedDownload, begunEvents, lossOf, type Noted, notedEvent, sentEvent } from "./events.ts";
import type { AuditExpiry } from "./expiry.ts";
import { logLines } from "./files.ts";
import { merged } from "./merged.ts";
import { EventQueue } from "./queue.ts";
import type { AuditPlace, AuditWriter, NewEntry } from "./writer.ts";

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
/** What is counted is written so long after the first of it. */
const countedForMs = 60_000;

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
  readonly #queue = new EventQueue();
  readonly #listeners: Listener[] = [];
  readonly #countedListeners: ((event: AuditedEvent) => void)[] = [];
  /** Changes that the log has, though the database may still hold them. */
  readonly #known: ReadonlySet<number>;
  #head: AuditPlace;
  #lastChange = 0;
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
    this.#head = writer.head;
    this.#expiry = expiry;
    this.#changes = changes;
    this.#known = known;
    this.#clock = clock;
    this.#log = log;
  }

  /** The last line that lasts. A write takes it along with `lastChange`: both are of the same moment. */
  get head(): AuditPlace {
    return this.#head;
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
  note(event: NotedEvent, noted: Noted = {}): void {
    this.#add(...notedEvent(this.#clock(), event, noted));
  }

  /**
   * Writes down that the first byte of a download goes out.
   * @param range the part that was asked for
   * @returns what is to be called when its client was sent all of it, which is written down as well
   */
  download(download: AuditedDownload, range?: DownloadedRange): () => void {
    const begun = begunEvents(this.#clock(), download, range);
    for (const event of begun) this.#add(event);
    return () => {
      for (const event of begun) this.#sent(event);
    };
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

  /** Is called with entries as soon as they last, in their order. */
  onWritten(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Is called at once with each event that comes too often and is counted: what its entry says later can be less. */
  onCounted(listener: (event: AuditedEvent) => void): void {
    this.#countedListeners.push(listener);
  }

  /** Says that the database may hold changes that the log lacks. */
  wake(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.flush(), this.#hasFailed ? againMs : writtenAfterMs);
    this.#timer.unref();
  }

  /** Writes what waits where anything does; what could not be written before waits for its next turn. */
  async settle(): Promise<void> {
    if (!this.#queue.isEmpty && !this.#hasFailed) await this.flush();
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
    clearTimeout(this.#counting);
    this.#queue.takeCounted(true);
    this.#isClosed = true;
    await this.flush();
  }

  #add(event: AuditedEvent, counted?: AuditedEvent): void {
    const isNext = this.#queue.add(event, counted);
    if (!isNext) for (const listener of this.#countedListeners) listener(event);
    this.#countOn();
    this.wake();
  }

  /** One line is enough of a download that is over before its first line is written. */
  #sent(begun: AuditedEvent): void {
    const sent = sentEvent(begun);
    if (!this.#queue.replace(begun, sent)) this.#add({ ...sent, at: this.#clock() });
  }

  #countOn(): void {
    if (!this.#queue.isCounting || this.#isClosed) return;
    this.#counting ??= setTimeout(() => {
      this.#counting = undefined;
      this.#queue.takeCounted(false);
      this.#countOn();
      this.wake();
    }, countedForMs).unref();
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
    const { events, lost } = this.#queue.next();
    const loss = lost > 0 ? [lossOf(this.#clock(), lost)] : [];
    const all = [...merged(fresh, events), ...loss];
    const upTo = changes.at(-1)?.change ?? this.#lastChange;
    if (all.length > 0) await this.#append(all, upTo);
    this.#lastChange = upTo;
    return all.length > 0 || changes.length > 0;
  }

  /** @param upTo the last change that it has then, whatever becomes of those who are told of it */
  async #append(all: readonly NewEntry[], upTo: number): Promise<void> {
    const { file } = this.#head;
    let isWritten = false;
    try {
      const { entries, head } = await this.#writer.append(all);
      isWritten = true;
      [this.#head, this.#lastChange] = [head, upTo];
      for (const listener of this.#listeners) listener(entries, head);
      if (head.file !== file) await this.#expiry.look(this.#clock());
    } finally {
      this.#queue.end(isWritten);
    }
  }

  async #removeExpired(): Promise<void> {
    const expired = await this.#expiry.remove(this.#changes.place("start"));
    if (expired === undefined) return;
    const what = `${expired.names.join(", ")}: all up to entry ${expired.start.seq}, because of their age`;
    this.note("log-shortened", { what, actor: itself });
  }
}
