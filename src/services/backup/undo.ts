import { RecentMap } from "../../domain/collections.ts";
import {
  type KeptDeletion,
  NotRestored,
  type RecentDeletion,
  type RestoredRecord,
  undoMs,
} from "../../domain/deletion.ts";
import { errorMessage } from "../../domain/errors.ts";
import type { DeletedFile, FinalDeletion, Removal } from "../../store/deletions.ts";
import type { Store } from "../../store/store.ts";
import type { DeploymentMemory } from "../deploy/deployment-memory.ts";
import { type ArchiveCheck, archiveRemarks } from "../drivers/archive-check.ts";

interface UndoServices {
  readonly store: Store;
  readonly memory: Pick<DeploymentMemory, "saveBeforeRemoval" | "forget" | "reload">;
  readonly archives: Pick<ArchiveCheck, "checkedStateOf">;
  readonly clock: () => number;
  readonly log: (line: string) => void;
  /** How long a deletion can be undone; ten minutes by default. */
  readonly undoMs?: number | undefined;
}

/** The results of this many undone deletions are kept in memory for pages. */
const maxRemembered = 200;
/** After this time, deleting files is retried. */
const retryMs = 60_000;

/**
 * Deletes records. Deletions and changes can be undone for a while. After that, or at once if there is no room to keep the
 * records, it is final: the records are deleted on disk first, then their files, then the entry of the deletion.
 */
export class Undo {
  readonly #services: UndoServices;
  readonly #undoMs: number;
  /** Final deletions whose files are being deleted. */
  readonly #deletingFiles = new Map<number, Promise<void>>();
  readonly #restored = new RecentMap<number, RestoredRecord>(maxRemembered);
  #timer: NodeJS.Timeout | undefined;
  #finalizing: Promise<void> = Promise.resolve();
  #hasFailed = false;
  #isClosed = false;

  constructor(services: UndoServices) {
    this.#services = services;
    this.#undoMs = services.undoMs ?? undoMs;
  }

  /** Deletes the files that an earlier run left, and makes its deletions final if their time is over. */
  async start(): Promise<void> {
    await this.#deleteFiles(this.#services.store.deletions.listFinal());
    await this.#makeDueFinal();
  }

  /** Makes no more deletions final, and resolves when no files are being deleted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#finalizing;
    await Promise.all(this.#deletingFiles.values());
  }

  /** The deletions and changes that can be undone, newest first. */
  list(): RecentDeletion[] {
    const { store, clock } = this.#services;
    const now = clock();
    const left = (deletedAt: number) => Math.min(this.#undoMs, Math.max(0, deletedAt + this.#undoMs - now));
    return store.deletions.list().map((deletion) => ({ ...deletion, leftMs: left(deletion.deleted_at) }));
  }

  /** A deletion or change that can be undone; undefined if it is final or unknown. */
  find(id: number): KeptDeletion | undefined {
    return this.#services.store.deletions.find(id);
  }

  /** The result of a deletion that was undone recently. */
  restored(id: number): RestoredRecord | undefined {
    return this.#restored.get(id);
  }

  /** @returns the deletion's id; undefined when it is final. @throws UserError "not-found" */
  async removePrinter(id: number): Promise<number | undefined> {
    return this.#removePrinters([id], () => this.#services.store.manyPrinters.remove(id));
  }

  /**
   * Deletes all of these printers or none, as one deletion.
   * @throws UserError "invalid" when one of them does not exist
   */
  removePrinters(ids: readonly number[]): Promise<number | undefined> {
    return this.#removePrinters(ids, () => this.#services.store.manyPrinters.removeMany(ids));
  }

  async #removePrinters(ids: readonly number[], remove: () => Promise<Removal>): Promise<number | undefined> {
    await this.#services.memory.saveBeforeRemoval(ids);
    const deletion = await this.finish(await remove());
    this.#services.memory.forget(ids);
    return deletion;
  }

  /** @throws UserError "not-found", or "conflict" naming the printers that the client still has */
  async removeClient(id: number): Promise<number | undefined> {
    return this.finish(await this.#services.store.clients.remove(id));
  }

  /** @throws UserError "not-found", or "conflict" when the driver is in use */
  async removeDriver(id: number): Promise<number | undefined> {
    const { store } = this.#services;
    const { drivers, blobs } = store;
    const isFinal = await store.isNearlyFull();
    // In order with uploads: an upload of the same content may be using this record.
    return this.finish(await blobs.inOrder(drivers.get(id).sha256, () => drivers.remove(id, isFinal)));
  }

  /** Deletes a printer's icon or preferences, if it has any. @throws UserError "not-found" when there is no such printer */
  async removeFile(kind: "icons" | "preferences", printerId: number): Promise<number | undefined> {
    return this.finish(await this.#services.store[kind].remove(printerId));
  }

  /** Runs a change that can be undone for a while. */
  async keep<T>(change: Promise<T>): Promise<T> {
    const result = await change;
    this.#schedule();
    return result;
  }

  /** Deletes the files of final deletions, and schedules when this one becomes final. @returns its id, unless final */
  async finish({ deletionId, finalDeletions }: Removal): Promise<number | undefined> {
    this.#schedule();
    await this.#deleteFiles(finalDeletions);
    return deletionId;
  }

  /** Undoes a deletion or change. @throws NotRestored when another record prevents it */
  async restore(id: number): Promise<RestoredRecord> {
    const { store, memory } = this.#services;
    const { record: restored, printerIds, removal } = await store.restoring.restore(id);
    memory.reload(printerIds);
    const record = {
      ...restored,
      remarks: [...restored.remarks, ...(await archiveRemarks(this.#services, restored))],
    };
    this.#restored.set(id, record);
    if (removal !== undefined) await this.finish(removal);
    return record;
  }

  /** Makes a deletion final before its time is over. @throws NotRestored when there is no such deletion */
  async makeFinal(id: number): Promise<void> {
    if ((await this.#makeFinal([id], true)) === 0) throw new NotRestored(undefined, { kind: "over" });
  }

  /** @param isRequested whether a user requested it before its time was over. @returns how many it made final */
  async #makeFinal(ids: readonly number[], isRequested: boolean): Promise<number> {
    const { count, finalDeletions } = await this.#services.store.deletions.makeFinal(ids, isRequested);
    await this.#deleteFiles(finalDeletions);
    return count;
  }

  /** Deletes files that nothing else needs, then the entries of the deletions. Their records are deleted already. */
  async #deleteFiles(deletions: readonly FinalDeletion[]): Promise<void> {
    const begun = deletions.filter(({ id }) => !this.#deletingFiles.has(id));
    for (const deletion of begun) this.#deletingFiles.set(deletion.id, this.#deleteFilesOf(deletion));
    await Promise.all(begun.map(({ id }) => this.#deletingFiles.get(id)));
  }

  async #deleteFilesOf({ id, files }: FinalDeletion): Promise<void> {
    try {
      for (const file of files) await this.#removeFile(file);
      await this.#services.store.deletions.forget(id);
    } catch (error) {
      this.#fail("files of deleted records are still there", error);
    } finally {
      this.#deletingFiles.delete(id);
    }
  }

  /** Deletes a file unless a record or another deletion needs it, or moves it if a backup names it. */
  async #removeFile(file: DeletedFile): Promise<void> {
    const { store } = this.#services;
    const { blobs, deletions, keptFiles } = store;
    const { kind, sha256 } = file;
    await blobs.inOrder(sha256, async () => {
      if (store[kind].hasDigest(sha256) || deletions.needsFile(file, this.#deletingFiles)) return;
      if (await keptFiles.keep(file, blobs.pathOf(kind, sha256))) return;
      await blobs.remove(kind, sha256);
    });
  }

  /**
   * Schedules the time when the next deletion becomes final, or a retry after an error. It waits a little longer, so that
   * deletions and changes shortly after that one become final in the same write.
   */
  #schedule(): void {
    // A new deletion is never due before those that are kept already.
    if (this.#isClosed || this.#timer !== undefined) return;
    const due = Math.min(...this.list().map(({ leftMs }) => leftMs));
    const next = this.#hasFailed ? retryMs : due + this.#undoMs / 10;
    if (next === Number.POSITIVE_INFINITY) return;
    const makeDueFinal = () => {
      this.#timer = undefined;
      this.#finalizing = this.#makeDueFinal();
    };
    this.#timer = setTimeout(makeDueFinal, next).unref();
  }

  #fail(what: string, error: unknown): void {
    this.#hasFailed = true;
    this.#services.log(`warning: ${what}: ${errorMessage(error)}`);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#schedule();
  }

  async #makeDueFinal(): Promise<void> {
    const due = this.list().flatMap(({ id, leftMs }) => (leftMs === 0 ? id : []));
    const isRetry = this.#hasFailed;
    this.#hasFailed = false;
    try {
      if (due.length > 0 || isRetry) await this.#makeFinal(due, false);
      this.#schedule();
    } catch (error) {
      this.#fail("what was deleted is still kept", error);
    }
  }
}
