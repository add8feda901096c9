import type { AuditEntry } from "../domain/audit.ts";
import {
  type Deployed,
  type DeployedPrinter,
  type DownloadCount,
  deployingKinds,
} from "../domain/download.ts";
import { messageOf } from "../domain/errors.ts";
import type { Actor } from "../store/audit/actor.ts";
import type { AuditedDownload } from "../store/audit/log.ts";
import type { AuditPlace } from "../store/audit/writer.ts";
import type { PrinterDownloads } from "../store/downloads.ts";
import type { Store } from "../store/store.ts";

/** Counts wait so long for others to be saved with: agents fetch scripts by the hundred. */
const savedAfterMs = 5000;
/** So many wait at most. */
const mostPending = 20_000;
const textLimit = 40;

/** What the audit log is told of a download besides. */
type Told = Pick<AuditedDownload, "digest" | "record">;

/**
 * Remembers which revision of a printer was downloaded when and by whom, as counts. The audit log has a line for each
 * download; the lines are counted in memory, and the counts saved every few seconds with the number of the last line: a
 * download costs no save, none fails because of its count, and each line counts once, whenever the service ends.
 */
export class DeploymentMemory {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #log: (line: string) => void;
  readonly #latest: Map<number, Deployed>;
  /** The same by the lines that are counted. */
  readonly #written: Map<number, Deployed>;
  /** What no line tells yet. */
  readonly #waiting = new Map<string, PrinterDownloads>();
  /** What lines tell and is not saved yet. */
  readonly #pending = new Map<string, PrinterDownloads>();
  /** The last line that is counted. */
  #upTo: AuditPlace;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  /** Whether counts were lost since the last save. */
  #isLosing = false;
  #isClosed = false;
  #version = 0;

  constructor(store: Store, clock: () => number, log: (line: string) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#latest = store.downloads.latest();
    this.#written = new Map(this.#latest);
    this.#upTo = store.downloads.countedUpTo();
  }

  /** Counts what the log tells and a service before this one did not save. */
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
  }

  async #catchUp(): Promise<void> {
    const known = new Set(this.#store.printers.list().map(({ printer }) => printer.id));
    for await (const { entry, place } of this.#store.audit.entriesBehind(this.#upTo)) {
      if (entry.seq <= this.#upTo.seq) continue;
      const printers = (entry.printers ?? []).filter(([id]) => known.has(id));
      this.#countLine({ ...entry, printers });
      for (const [id] of printers) this.#showWritten(id);
      this.#upTo = place;
    }
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
    const unsaved = [...this.#pending.values(), ...this.#waiting.values()];
    const of = unsaved.filter(({ printer_id }) => printer_id === printerId);
    for (const one of [...this.#store.downloads.ofPrinter(printerId), ...of]) {
      const key = keyOf(printerId, one);
      counts.set(key, added(counts.get(key), one));
    }
    return [...counts.values()].sort((a, b) => b.last_at - a.last_at);
  }

  /**
   * Writes down and counts a download of which the last byte is out.
   * @param printers all that are in it
   * @param what a format of packages or a kind of scripts
   * @param who a class of clients
   */
  downloaded(
    printers: readonly DeployedPrinter[],
    what: string,
    who: string,
    told: Told = { digest: "" },
    actor?: Actor,
  ): void {
    const now = this.#clock();
    const short = { what: what.slice(0, textLimit), who: who.slice(0, textLimit) };
    for (const { id, revision } of printers) {
      const before = this.#latest.get(id);
      const at = deployingKinds.includes(what) ? deploy(this.#latest, id, revision, now) : now;
      if (this.#latest.get(id)?.revision !== before?.revision) this.#version++;
      const one = { printer_id: id, ...short, revision, count: 1, first_at: at, last_at: at };
      this.#add(this.#waiting, one);
    }
    const pairs = printers.map(({ id, revision }) => [id, revision] as const);
    const by = { what: short.what, by: short.who, printers: pairs };
    this.#store.audit.downloaded({ ...told, ...by, ...(actor && { actor }) });
  }

  /** Counts a line of the log, once. */
  #countLine({ at, what = "", by = "", printers, count = 1 }: AuditEntry): void {
    for (const [id, revision] of printers ?? []) {
      const when = deployingKinds.includes(what) ? deploy(this.#written, id, revision, at) : at;
      const one = { printer_id: id, what, who: by, revision, count, first_at: when, last_at: when };
      this.#told(one);
      this.#add(this.#pending, one);
    }
    if (this.#isClosed || this.#timer !== undefined || this.#pending.size === 0) return;
    this.#timer = setTimeout(() => void this.flush(), savedAfterMs);
    this.#timer.unref();
  }

  /** What a line tells waits for none any more. */
  #told(one: PrinterDownloads): void {
    const key = keyOf(one.printer_id, one);
    const known = this.#waiting.get(key);
    if (known === undefined) return;
    if (known.count > one.count) this.#waiting.set(key, { ...known, count: known.count - one.count });
    else this.#waiting.delete(key);
  }

  #showWritten(id: number): void {
    const deployed = this.#written.get(id);
    if (deployed !== undefined) this.#latest.set(id, deployed);
  }

  #add(counts: Map<string, PrinterDownloads>, one: PrinterDownloads): void {
    const key = keyOf(one.printer_id, one);
    const known = counts.get(key);
    if (known === undefined && counts.size >= mostPending) {
      this.#lose("too many at once");
      return;
    }
    counts.set(key, { ...added(known, one), printer_id: one.printer_id });
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
    try {
      await this.#store.downloads.add(counts, this.#upTo);
      this.#isLosing = false;
    } catch (error) {
      // The next save has them; and should the service end before, the log has them still.
      for (const one of counts) this.#add(this.#pending, one);
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
    const removed = new Set(ids);
    const unsaved = [...this.#pending.values(), ...this.#waiting.values()];
    if (unsaved.some(({ printer_id }) => removed.has(printer_id))) await this.flush();
    await this.#saving;
  }

  removed(ids: readonly number[]): void {
    for (const id of ids) for (const known of [this.#latest, this.#written]) known.delete(id);
  }

  /** Reads anew what was deployed of printers that came back. */
  restored(ids: readonly number[]): void {
    for (const [id, deployed] of this.#store.downloads.latest(ids))
      for (const known of [this.#latest, this.#written]) known.set(id, deployed);
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
