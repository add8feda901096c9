import { hostNetwork } from "../../domain/address.ts";
import type { AuditEntry, AuditedEvent, OtherEvent } from "../../domain/audit/audit.ts";
import { errorMessage } from "../../domain/errors.ts";
import { FloodLimit } from "../../domain/flood-limit.ts";
import { type Actor, currentActor, serviceActor } from "../actor.ts";
import type { SavedChanges } from "./changes.ts";
import type { AuditPlace, AuditWriter } from "./writer.ts";

/** Details of an event that changes no record. */
interface EventDetails extends Pick<AuditedEvent, "record" | "what" | "by" | "digest" | "printers"> {
  /** The current actor by default. */
  readonly actor?: Actor;
}

interface AuditFiles {
  readonly folder: string;
  readonly writer: AuditWriter;
  /** Removes files that are too old. It is called after a new file was started, and must not throw. */
  readonly expire: () => Promise<void>;
  /** Changes that are on disk in the database, and that the log may not have yet. */
  readonly changes: SavedChanges;
  /** The numbers of changes that the log has and the database may still have. */
  readonly alreadyLogged: ReadonlySet<number>;
}

const severalActors: Actor = { who: "several", from: "several" };

/** @param place the place of the last entry */
type Listener = (entries: readonly AuditEntry[], place: AuditPlace) => void;

/** Events wait this long for others, so that one sync writes them together. */
const flushDelayMs = 100;
const retryMs = 5000;
/** At most this many events wait in memory. Changes of records wait in the database. */
const maxWaitingEvents = 10_000;

/**
 * The audit log: who did what, when, from where and to which record. Callers do not wait: an event is on disk about 100 ms
 * later, and one sync writes many events.
 */
export class AuditLog {
  readonly folder: string;
  readonly #files: AuditFiles;
  readonly #clock: () => number;
  readonly #log: (line: string) => void;
  /** For events that anybody can cause. */
  readonly #limits = new Map(
    (["refused", "sign-in-failed"] as const).map((event) => [
      event as OtherEvent,
      new FloodLimit((count) => this.#push({ at: this.#clock(), ...severalActors, event, count })),
    ]),
  );
  #waiting: AuditedEvent[] = [];
  /** The number of events for which there was no room. */
  #lostCount = 0;
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

  /** The place of the last line on disk. It changes together with `lastChange`. */
  get head(): AuditPlace {
    return this.#head;
  }

  /** The number of the last change in the log. */
  get lastChange(): number {
    return this.#lastChange;
  }

  /**
   * Records an event that changed no record. It never throws. Of refusals, a sender gets limited lines per minute, and so
   * do all together: one more line counts the rest.
   */
  record(event: OtherEvent, { actor = currentActor(), ...details }: EventDetails = {}): void {
    const limit = this.#limits.get(event);
    // Strangers sign in under any name.
    const who = event === "sign-in-failed" ? "" : actor.who;
    if (limit?.admits(`${who} ${hostNetwork(actor.from)}`) === false) return;
    this.#push({ at: this.#clock(), ...actor, event, ...details });
  }

  /** @param listener is called with entries in order as soon as they are on disk */
  onWritten(listener: Listener): void {
    this.#listener = listener;
  }

  /** Call this when the database may have changes that the log does not have yet. */
  scheduleFlush(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.flush(), this.#hasFailed ? retryMs : flushDelayMs).unref();
  }

  /** Waits until all events so far are on disk. While the disk fails, it returns at once. */
  async waitForEvents(): Promise<void> {
    if ((this.#waiting.length > 0 || this.#writing !== undefined) && !this.#hasFailed) await this.flush();
  }

  /** Writes all waiting events. It does not throw: after an error, changes stay in the database and events in memory. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#writing;
    this.#writing ??= this.#writeWaiting().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  /** Writes everything, including counts. Events recorded later are not written. */
  async close(): Promise<void> {
    for (const limit of this.#limits.values()) limit.end();
    this.#isClosed = true;
    await this.flush();
  }

  #push(event: AuditedEvent): void {
    if (this.#waiting.length < maxWaitingEvents) this.#waiting.push(event);
    else this.#lostCount += event.count ?? 1;
    this.scheduleFlush();
  }

  async #writeWaiting(): Promise<void> {
    try {
      while (await this.#writeBatch()) this.#hasFailed = false;
    } catch (error) {
      // Log the error once, not for every retry.
      if (!this.#hasFailed) this.#log(`warning: the audit log cannot be written: ${errorMessage(error)}`);
      this.#hasFailed = true;
      this.scheduleFlush();
    }
  }

  /** @returns whether there was anything to write */
  async #writeBatch(): Promise<boolean> {
    const { changes, alreadyLogged, writer, expire } = this.#files;
    const [events, lost, { file }] = [this.#waiting, this.#lostCount, this.#head];
    const next = changes.after(this.#lastChange);
    const upTo = next.at(-1)?.change ?? this.#lastChange;
    if (next.length + events.length + lost === 0) return false;
    [this.#waiting, this.#lostCount] = [[], 0];
    const fresh = next.filter(({ change }) => !alreadyLogged.has(change));
    const all = [...fresh, ...events].sort((a, b) => a.at - b.at);
    const { entries, head } = await writer
      .append(lost > 0 ? [...all, this.#lossEvent(lost)] : all)
      .catch((error: unknown) => {
        this.#waiting.unshift(...events);
        this.#lostCount += lost;
        throw error;
      });
    [this.#head, this.#lastChange] = [head, upTo];
    this.#listener(entries, head);
    if (head.file !== file) await expire();
    return true;
  }

  #lossEvent(count: number): AuditedEvent {
    const what = "there was no room in memory to keep them";
    return { at: this.#clock(), ...serviceActor, event: "entries-lost", what, count };
  }
}
