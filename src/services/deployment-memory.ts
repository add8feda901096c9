import type { AuditEntry, AuditedEvent } from "../domain/audit.ts";
import { type Deployed, type DownloadCount, deployingKinds, otherSite } from "../domain/download.ts";
import { messageOf } from "../domain/errors.ts";
import type { AuditPlace } from "../store/audit/writer.ts";
import type { PrinterDownloads } from "../store/downloads.ts";
import type { Store } from "../store/store.ts";

/** Counts wait so long for others to be saved with: agents fetch scripts by the hundred. */
const savedAfterMs = 5000;
/** So many wait at most. */
const mostPending = 20_000;
const textLimit = 40;

/**
 * Remembers which revision of a printer was downloaded when and by whom, as counts. The audit log has a line for each
 * download; the lines are counted in memory, and the counts saved every few seconds with the number of the last line: a
 * download costs no save, none fails because of its count, and each line counts once, whenever the service ends. What comes
 * too often to have a line of its own is counted at once, whatever its line says later.
 */
export class DeploymentMemory {
  readonly #store: Store;
  readonly #log: (line: string) => void;
  readonly #latest: Map<number, Deployed>;
  /** What is counted and not saved yet. */
  readonly #pending = new Map<string, PrinterDownloads>();
  #beingSaved: readonly PrinterDownloads[] = [];
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
    while (this.#upTo.seq < audit.head.seq) {
      const before = this.#upTo.seq;
      await this.#catchUp();
      // What stands there besides is no line of ours.
      if (this.#upTo.seq === before) this.#upTo = audit.head;
    }
    audit.onWritten((entries, place) => {
      for (const entry of entries) this.#countLine(entry);
      this.#upTo = place;
    });
    audit.onCounted((event) => this.#count(event));
  }

  async #catchUp(): Promise<void> {
    const known = new Set(this.#store.printers.list().map(({ printer }) => printer.id));
    for await (const { entry, place } of this.#store.audit.entriesBehind(this.#upTo)) {
      if (entry.seq <= this.#upTo.seq) continue;
      const printers = (entry.printers ?? []).filter(([id]) => known.has(id));
      this.#countLine({ ...entry, printers });
      this.#upTo = place;
    }
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
    const unsaved = [...this.#beingSaved, ...this.#pending.values()];
    const of = unsaved.filter(({ printer_id }) => printer_id === printerId);
    for (const one of [...this.#store.downloads.ofPrinter(printerId), ...of]) {
      const key = keyOf(printerId, one);
      counts.set(key, added(counts.get(key), one));
    }
    return [...counts.values()].sort((a, b) => b.last_at - a.last_at);
  }

  /** Counts a line of the log, once. */
  #countLine(entry: AuditEntry): void {
    if (!entry.isTallied) this.#count(entry);
  }

  #count({ event, at, what = "", by = "", printers = [], count = 1 }: AuditedEvent): void {
    if (event !== "downloaded" || by === otherSite) return;
    const short = { what: what.slice(0, textLimit), who: by.slice(0, textLimit) };
    for (const [id, revision] of printers) {
      const before = this.#latest.get(id);
      const when = deployingKinds.includes(what) ? deploy(this.#latest, id, revision, at) : at;
      if (this.#latest.get(id)?.revision !== before?.revision) this.#version++;
      this.#add({ printer_id: id, ...short, revision, count, first_at: when, last_at: when });
    }
    if (this.#isClosed || this.#timer !== undefined || this.#pending.size === 0) return;
    this.#timer = setTimeout(() => void this.flush(), savedAfterMs);
    this.#timer.unref();
  }

  #add(one: PrinterDownloads): void {
    const key = keyOf(one.printer_id, one);
    const known = this.#pending.get(key);
    if (known === undefined && this.#pending.size >= mostPending) {
      this.#lose("too many at once");
      return;
    }
    this.#pending.set(key, { ...added(known, one), printer_id: one.printer_id });
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
    const counts = [...this.#pending.values()];
    if (counts.length === 0) return;
    this.#pending.clear();
    this.#beingSaved = counts;
    try {
      await this.#store.downloads.add(counts, this.#upTo);
      this.#isLosing = false;
    } catch (error) {
      // The next save has them; and should the service end before, the log has them still.
      for (const one of counts) this.#add(one);
      this.#lose(messageOf(error));
    } finally {
      this.#beingSaved = [];
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
    if ([...this.#pending.values()].some(({ printer_id }) => removed.has(printer_id))) await this.flush();
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

/** @returns when it was: later than what was deployed before it, also by a clock that was put back */
function deploy(known: Map<number, Deployed>, id: number, revision: string, now: number): number {
  const before = known.get(id);
  const at = before === undefined ? now : Math.max(now, before.at + Number(before.revision !== revision));
  known.set(id, { revision, at });
  return at;
}

function keyOf(id: number, { what, revision, who }: DownloadCount): string {
  return JSON.stringify([id, what, revision, who]);
}

function added(known: DownloadCount | undefined, one: DownloadCount): DownloadCount {
  if (known === undefined) return one;
  const first_at = Math.min(known.first_at, one.first_at);
  const last_at = Math.max(known.last_at, one.last_at);
  return { ...known, count: known.count + one.count, first_at, last_at };
}
