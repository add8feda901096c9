import type { AuditEntry } from "../../domain/audit/audit.ts";
import {
  type Deployed,
  type DownloadCount,
  deployingKinds,
  otherSite,
} from "../../domain/deploy/download.ts";
import { messageOf } from "../../domain/errors.ts";
import { readEntries } from "../../store/audit/files.ts";
import type { AuditPlace } from "../../store/audit/writer.ts";
import type { PrinterDownloads } from "../../store/deploy/downloads.ts";
import type { Store } from "../../store/store.ts";

/** Counts wait so long for others to be saved with: agents fetch scripts by the hundred. */
const savedAfterMs = 5000;
/** So many wait at most. */
const maxUnsaved = 20_000;
const textLimit = 40;

/**
 * Remembers which revision of a printer was downloaded when and by whom, as counts. The audit log has the downloads: its
 * lines are counted in memory as they are written, and the counts saved every few seconds with the number of the last line.
 * So a download costs no save, none fails because of its count, and each line counts once, whenever the service ends.
 */
export class DeploymentMemory {
  readonly #store: Store;
  readonly #log: (line: string) => void;
  readonly #latest: Map<number, Deployed>;
  #unsaved: PrinterDownloads[] = [];
  /** The last line that is counted. */
  #upTo: AuditPlace;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  /** Whether counts were lost since the last save. */
  #isLosing = false;
  #isClosed = false;
  #version = 0;

  constructor(store: Store, log: (line: string) => void) {
    this.#store = store;
    this.#log = log;
    this.#latest = store.downloads.latest();
    this.#upTo = store.downloads.countedUpTo();
  }

  /** Counts what is in the log and a service before this one did not save. */
  async start(): Promise<void> {
    const { audit } = this.#store;
    await audit.flush();
    for (let { head } = audit; this.#upTo.seq < head.seq; head = audit.head) {
      for await (const entry of readEntries(audit.folder, this.#upTo))
        if (entry.seq > this.#upTo.seq && entry.seq <= head.seq) this.#count(entry);
      this.#upTo = head;
    }
    audit.onWritten((entries, place) => {
      for (const entry of entries) this.#count(entry);
      this.#upTo = place;
    });
  }

  /** Waits until what was downloaded before is counted, unless the log cannot be written. */
  settle(): Promise<void> {
    return this.#store.audit.settle();
  }

  /** Another number whenever another revision of a printer was deployed. */
  get version(): number {
    return this.#version;
  }

  /** What was deployed last of a printer; undefined where nothing ever was. */
  latest(printerId: number): Deployed | undefined {
    return this.#latest.get(printerId);
  }

  /** How often what was downloaded of a printer, the latest first; also what is not saved yet. */
  ofPrinter(printerId: number): readonly DownloadCount[] {
    const counts = new Map<string, DownloadCount>();
    const unsaved = this.#unsaved.filter(({ printer_id }) => printer_id === printerId);
    for (const one of [...this.#store.downloads.ofPrinter(printerId), ...unsaved]) {
      const key = JSON.stringify([one.what, one.revision, one.who]);
      counts.set(key, added(counts.get(key), one));
    }
    return [...counts.values()].sort((a, b) => b.last_at - a.last_at);
  }

  #count({ event, at, what = "", by = "", printers = [], count = 1, isCounted }: AuditEntry): void {
    if (event !== "downloaded" || by === otherSite || isCounted) return;
    const said = { what: what.slice(0, textLimit), who: by.slice(0, textLimit), count };
    for (const [printer_id, revision] of printers) {
      const when = deployingKinds.includes(what) ? this.#deploy(printer_id, revision, at) : at;
      if (this.#unsaved.length >= maxUnsaved) this.#lose("too many at once");
      else this.#unsaved.push({ printer_id, revision, ...said, first_at: when, last_at: when });
    }
    if (this.#isClosed || this.#unsaved.length === 0) return;
    this.#timer ??= setTimeout(() => void this.flush(), savedAfterMs).unref();
  }

  /** @returns when it was: later than what was deployed before it, also by a clock that was put back */
  #deploy(id: number, revision: string, now: number): number {
    const before = this.#latest.get(id);
    const isOther = before?.revision !== revision;
    const at = before === undefined ? now : Math.max(now, before.at + Number(isOther));
    this.#latest.set(id, { revision, at });
    if (isOther) this.#version++;
    return at;
  }

  /** Saves what is counted so far; whatever stands in the way, it does not fail. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#store.audit.flush();
    this.#saving = this.#saving.then(() => this.#save());
    return this.#saving;
  }

  async #save(): Promise<void> {
    // The database has them in memory at once.
    const counts = this.#unsaved.splice(0);
    if (counts.length === 0) return;
    try {
      await this.#store.downloads.add(counts, this.#upTo);
      this.#isLosing = false;
    } catch (error) {
      // The next save has them; and should the service end before, the log has them still.
      this.#unsaved.unshift(...counts);
      this.#lose(messageOf(error));
    }
  }

  /** Says it once, not for every download. */
  #lose(why: string): void {
    if (!this.#isLosing) this.#log(`warning: downloads are not counted: ${why}`);
    this.#isLosing = true;
  }

  /** Saves first what is counted of printers that are about to be deleted: then it can come back with them. */
  async beforeRemoval(ids: readonly number[]): Promise<void> {
    await this.#store.audit.flush();
    const removed = new Set(ids);
    if (this.#unsaved.some(({ printer_id }) => removed.has(printer_id))) await this.flush();
    await this.#saving;
  }

  removed(ids: readonly number[]): void {
    for (const id of ids) this.#latest.delete(id);
  }

  /** Reads anew what was deployed of printers that came back. */
  restored(ids: readonly number[]): void {
    for (const [id, deployed] of this.#store.downloads.latest(ids)) this.#latest.set(id, deployed);
    this.#version++;
  }

  /** Saves what is left and counts nothing more. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.flush();
  }
}

function added(known: DownloadCount | undefined, one: DownloadCount): DownloadCount {
  if (known === undefined) return one;
  const first_at = Math.min(known.first_at, one.first_at);
  const last_at = Math.max(known.last_at, one.last_at);
  return { ...known, count: known.count + one.count, first_at, last_at };
}
