import {
  type Deployed,
  type DeployedPrinter,
  type DownloadCount,
  deployingKinds,
} from "../domain/download.ts";
import { messageOf } from "../domain/errors.ts";
import type { PrinterDownloads } from "../store/downloads.ts";
import type { Store } from "../store/store.ts";

/** Counts wait so long for others to be saved with: agents fetch scripts by the hundred. */
const savedAfterMs = 5000;
/** So many wait at most. */
const mostPending = 20_000;
/** So many are saved at once: a transaction of more would hold everybody up. */
const savedAtOnce = 500;
const textLimit = 40;

/**
 * Remembers which revision of a printer was downloaded when and by whom, as counts. They are collected in memory and
 * saved every few seconds: a download costs no save, and none fails because of its count.
 */
export class DeploymentMemory {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #log: (line: string) => void;
  readonly #latest: Map<number, Deployed>;
  readonly #pending = new Map<string, PrinterDownloads>();
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
    const pending = [...this.#pending.values()].filter(({ printer_id }) => printer_id === printerId);
    for (const one of [...this.#store.downloads.ofPrinter(printerId), ...pending]) {
      const key = keyOf(printerId, one);
      counts.set(key, added(counts.get(key), one));
    }
    return [...counts.values()].sort((a, b) => b.last_at - a.last_at);
  }

  /**
   * Counts a download of which the last byte is out.
   * @param printers all that are in it
   * @param what a format of packages or a kind of scripts
   * @param who a class of clients
   */
  downloaded(printers: readonly DeployedPrinter[], what: string, who: string): void {
    const now = this.#clock();
    const short = { what: what.slice(0, textLimit), who: who.slice(0, textLimit) };
    for (const { id, revision } of printers) {
      const at = deployingKinds.includes(what) ? this.#deploy(id, revision, now) : now;
      this.#count({ printer_id: id, ...short, revision, count: 1, first_at: at, last_at: at });
    }
    if (this.#isClosed || this.#timer !== undefined || this.#pending.size === 0) return;
    this.#timer = setTimeout(() => void this.flush(), savedAfterMs);
    this.#timer.unref();
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

  #count(one: PrinterDownloads): void {
    const key = keyOf(one.printer_id, one);
    const known = this.#pending.get(key);
    if (known === undefined && this.#pending.size >= mostPending) {
      this.#lose("too many at once");
      return;
    }
    this.#pending.set(key, { ...added(known, one), printer_id: one.printer_id });
  }

  /** Saves what is counted so far; whatever stands in the way, it does not fail. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counts = [...this.#pending.values()];
    this.#pending.clear();
    for (let from = 0; from < counts.length; from += savedAtOnce) {
      const some = counts.slice(from, from + savedAtOnce);
      this.#saving = this.#saving.then(() => this.#save(some));
    }
    return this.#saving;
  }

  async #save(counts: readonly PrinterDownloads[]): Promise<void> {
    try {
      await this.#store.downloads.add(counts);
      this.#isLosing = false;
    } catch (error) {
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
    if ([...this.#pending.values()].some(({ printer_id }) => removed.has(printer_id))) void this.flush();
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

function keyOf(id: number, { what, revision, who }: DownloadCount): string {
  return JSON.stringify([id, what, revision, who]);
}

function added(known: DownloadCount | undefined, one: DownloadCount): DownloadCount {
  if (known === undefined) return one;
  const first_at = Math.min(known.first_at, one.first_at);
  const last_at = Math.max(known.last_at, one.last_at);
  return { ...known, count: known.count + one.count, first_at, last_at };
}
