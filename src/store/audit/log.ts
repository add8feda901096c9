import type {
  AuditEntry,
  AuditedEvent,
  AuditedRecord,
  DownloadedPrinter,
  DownloadedRange,
  NotedEvent,
} from "../../domain/audit/audit.ts";
import { messageOf } from "../../domain/errors.ts";
import { type Actor, currentActor, itself } from "../actor.ts";
import type { SavedRecords } from "./changes.ts";
import { Repeats } from "./repeats.ts";
import type { AuditPlace, AuditWriter } from "./writer.ts";

/** What there is to say of an event that changes no record. */
interface Noted {
  readonly record?: AuditedRecord | undefined;
  /** In few words. */
  readonly what?: string;
  /** The same in words that the client cannot choose: events that come too often are counted by them. */
  readonly countedAs?: string;
  readonly range?: DownloadedRange | undefined;
  /** Whoever asked, unless this says who it was. */
  readonly actor?: Actor;
}

interface AuditedDownload {
  readonly actor?: Actor;
  readonly record?: AuditedRecord | undefined;
  readonly what: string;
  /** A class of clients. */
  readonly by: string;
  /** Names its bytes. */
  readonly digest: string;
  /** Those that it holds. */
  readonly printers?: readonly DownloadedPrinter[] | undefined;
}

interface AuditFiles {
  /** The folder of the log's files. */
  readonly folder: string;
  readonly writer: AuditWriter;
  /** Removes the files whose time is over; called when a new one was begun. Must not throw. */
  readonly expire: () => Promise<void>;
  /** Changes that the database on disk has and the log may lack. */
  readonly changes: SavedRecords;
  /** The numbers of changes that the log has, though the database may still hold them. */
  readonly known: ReadonlySet<number>;
}

/** @param place of the last of the entries */
type Listener = (entries: readonly AuditEntry[], place: AuditPlace) => void;

/** Lines wait so long for others, which are synced with them. */
const writtenAfterMs = 100;
/** After an error the log tries again so much later. */
const retryMs = 5000;
/** Events that wait in memory at most; changes wait in the database. */
const maxWaiting = 10_000;

/**
 * The audit log: who did what, when, from where and to which record. Its callers do not wait: a line is on disk some 100 ms
 * later, many lines with one sync.
 */
export class AuditLog {
  readonly folder: string;
  readonly #files: AuditFiles;
  readonly #clock: () => number;
  readonly #log: (line: string) => void;
  readonly #repeats = new Repeats((event) => this.#push(event));
  #waiting: AuditedEvent[] = [];
  /** Events for which there was no room. */
  #lost = 0;
  #listener: Listener = () => {};
  #head: AuditPlace;
  #lastChange = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #hasFailed = false;
  #isClosed = false;

  constructor(files: AuditFiles, clock: () => number, log: (line: string) => void) {
    this.folder = files.folder;
    this.#files = files;
    this.#head = files.writer.head;
    this.#clock = clock;
    this.#log = log;
  }

  /** The last line on disk. It changes together with `lastChange`. */
  get head(): AuditPlace {
    return this.#head;
  }

  /** The number of the last change that is in the log. */
  get lastChange(): number {
    return this.#lastChange;
  }

  /** Writes down an event that changed no record. Never fails, and waits for nothing. */
  note(event: NotedEvent, { actor = currentActor(), countedAs, ...noted }: Noted = {}): void {
    const whole = { at: this.#clock(), ...actor, event, ...noted };
    this.#add(whole, countedAs === undefined ? whole : { ...whole, what: countedAs });
  }

  /**
   * Writes down that the first byte of a download goes out.
   * @param range the part that was asked for
   * @returns what is to be called when its client was sent all of it, which is written down as well
   */
  download({ actor = currentActor(), ...download }: AuditedDownload, range?: DownloadedRange): () => void {
    const begun = { at: this.#clock(), ...actor, event: "download-begun", ...download, range } as const;
    this.#add(begun);
    return () => {
      const sent = { ...begun, event: "downloaded", range: undefined } as const;
      const at = this.#waiting.lastIndexOf(begun);
      // One line is enough of a download that is over before its first line is written.
      if (at >= 0) this.#waiting[at] = sent;
      else this.#add({ ...sent, at: this.#clock() });
    };
  }

  /** @param listener is called with entries as soon as they are on disk, in their order */
  onWritten(listener: Listener): void {
    this.#listener = listener;
  }

  /** Says that the database may hold changes that the log lacks. */
  wake(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.flush(), this.#hasFailed ? retryMs : writtenAfterMs).unref();
  }

  /** Waits until the events so far are on disk; after an error they wait for the next try. */
  async settle(): Promise<void> {
    if ((this.#waiting.length > 0 || this.#writing !== undefined) && !this.#hasFailed) await this.flush();
  }

  /** Writes everything that waits. It does not fail: after an error, changes stay in the database, and events in memory. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#writing;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  /** Writes everything, also what is counted, and nothing more. */
  async close(): Promise<void> {
    this.#repeats.end();
    this.#isClosed = true;
    await this.flush();
  }

  #add(event: AuditedEvent, same = event): void {
    if (this.#repeats.admit(event, same)) this.#push(event);
  }

  #push(event: AuditedEvent): void {
    if (this.#waiting.length < maxWaiting) this.#waiting.push(event);
    else this.#lost += event.count ?? 1;
    this.wake();
  }

  async #writeAll(): Promise<void> {
    try {
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
    const { changes, known, writer, expire } = this.#files;
    const [events, lost, { file }] = [this.#waiting, this.#lost, this.#head];
    const next = changes.after(this.#lastChange);
    const upTo = next.at(-1)?.change ?? this.#lastChange;
    if (next.length + events.length + lost === 0) return false;
    [this.#waiting, this.#lost] = [[], 0];
    const fresh = next.filter(({ change }) => !known.has(change));
    const all = [...fresh, ...events].sort((a, b) => a.at - b.at);
    const { entries, head } = await writer
      .append(lost > 0 ? [...all, this.#lossOf(lost)] : all)
      .catch((error: unknown) => {
        this.#waiting.unshift(...events);
        this.#lost += lost;
        throw error;
      });
    [this.#head, this.#lastChange] = [head, upTo];
    this.#listener(entries, head);
    if (head.file !== file) await expire();
    return true;
  }

  #lossOf(count: number): AuditedEvent {
    const what = "there was no room in memory to keep them";
    return { at: this.#clock(), ...itself, event: "entries-lost", what, count };
  }
}
