import type { AuditEntry } from "../../domain/audit/audit.ts";
import {
  crossSitePage,
  type Deployed,
  type DownloadCount,
  deployingKinds,
} from "../../domain/deploy/download.ts";
import { errorMessage } from "../../domain/errors.ts";
import { readEntries } from "../../store/audit/files.ts";
import type { AuditPlace } from "../../store/audit/writer.ts";
import type { PrinterDownloads } from "../../store/deploy/downloads.ts";
import type { Store } from "../../store/store.ts";

/** Counts wait this long to be saved together, because agents download scripts by the hundred. */
const saveDelayMs = 5000;

/**
 * Counts which revisions of a printer were downloaded, when, and by which class of clients. The audit log contains the
 * downloads. This class counts the log's lines in memory as they are written, and saves the counts every few seconds
 * together with the number of the last line. So a download needs no save and never fails because of its count, and each
 * line counts once, even if the service ends unexpectedly.
 */
export class DeploymentMemory {
  readonly #store: Store;
  readonly #log: (line: string) => void;
  readonly #lastDeployed: Map<number, Deployed>;
  #unsaved: PrinterDownloads[] = [];
  /** The last line of the audit log that is counted. */
  #upTo: AuditPlace;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  /** Whether a warning was logged since the last successful save. */
  #hasWarned = false;
  #isClosed = false;
  #version = 0;

  constructor(store: Store, log: (line: string) => void) {
    this.#store = store;
    this.#log = log;
    this.#lastDeployed = store.downloads.lastDeployed();
    this.#upTo = store.downloads.countedUpTo();
  }

  /** Counts the lines of the log whose counts were not saved when the service last ended. */
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

  /** Changes whenever a different revision of a printer is deployed, and when deleted printers are restored. */
  get version(): number {
    return this.#version;
  }

  /** Whether any printer was ever deployed. */
  get hasDeployed(): boolean {
    return this.#lastDeployed.size > 0;
  }

  lastDeployed(printerId: number): Deployed | undefined {
    return this.#lastDeployed.get(printerId);
  }

  /** All counts of a printer, unsaved ones included, the most recent first. */
  ofPrinter(printerId: number): readonly DownloadCount[] {
    const counts = new Map<string, DownloadCount>();
    const unsaved = this.#unsaved.filter(({ printer_id }) => printer_id === printerId);
    for (const added of [...this.#store.downloads.ofPrinter(printerId), ...unsaved]) {
      const key = JSON.stringify([added.what, added.revision, added.who]);
      counts.set(key, mergedCount(counts.get(key), added));
    }
    return [...counts.values()].sort((a, b) => b.last_at - a.last_at);
  }

  #count({ event, at, what = "", by = "", printers = [], count = 1, isCounted }: AuditEntry): void {
    if (event !== "downloaded" || by === crossSitePage || isCounted) return;
    for (const [printer_id, revision] of printers) {
      const when = deployingKinds.includes(what) ? this.#recordDeployment(printer_id, revision, at) : at;
      this.#unsaved.push({ printer_id, revision, what, who: by, count, first_at: when, last_at: when });
    }
    if (this.#isClosed || this.#unsaved.length === 0) return;
    this.#timer ??= setTimeout(() => void this.flush(), saveDelayMs).unref();
  }

  /** @returns the time of the deployment, later than that of another revision even if the clock was set back */
  #recordDeployment(id: number, revision: string, now: number): number {
    const before = this.#lastDeployed.get(id);
    const isNew = before?.revision !== revision;
    const at = before === undefined ? now : Math.max(now, before.at + Number(isNew));
    this.#lastDeployed.set(id, { revision, at });
    if (isNew) this.#version++;
    return at;
  }

  /** Saves all counts. It never rejects. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#store.audit.flush();
    this.#saving = this.#saving.then(() => this.#save());
    return this.#saving;
  }

  async #save(): Promise<void> {
    // `add` changes the database in memory at once, so `ofPrinter` does not miss these counts.
    const counts = this.#unsaved.splice(0);
    if (counts.length === 0) return;
    try {
      await this.#store.downloads.add(counts, this.#upTo);
      this.#hasWarned = false;
    } catch (error) {
      // The next save includes these counts. If the service ends before it, `start` counts them again from the log.
      this.#unsaved = counts.concat(this.#unsaved);
      if (!this.#hasWarned) this.#log(`warning: downloads are not counted: ${errorMessage(error)}`);
      this.#hasWarned = true;
    }
  }

  /** Saves the counts of printers that are about to be deleted, so that the counts can be restored with them. */
  async saveBeforeRemoval(ids: readonly number[]): Promise<void> {
    await this.#store.audit.flush();
    const removed = new Set(ids);
    if (this.#unsaved.some(({ printer_id }) => removed.has(printer_id))) await this.flush();
    await this.#saving;
  }

  forget(ids: readonly number[]): void {
    for (const id of ids) this.#lastDeployed.delete(id);
  }

  /** Reads the last deployments of restored printers from the store. */
  reload(ids: readonly number[]): void {
    for (const [id, deployed] of this.#store.downloads.lastDeployed(ids))
      this.#lastDeployed.set(id, deployed);
    this.#version++;
  }

  /** Saves the remaining counts. No more saves are scheduled afterwards. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.flush();
  }
}

function mergedCount(known: DownloadCount | undefined, added: DownloadCount): DownloadCount {
  if (known === undefined) return added;
  const first_at = Math.min(known.first_at, added.first_at);
  const last_at = Math.max(known.last_at, added.last_at);
  return { ...known, count: known.count + added.count, first_at, last_at };
}
