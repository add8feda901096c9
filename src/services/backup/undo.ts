import { RecentMap } from "../../domain/collections.ts";
import {
  type KeptDeletion,
  NotRestored,
  type RecentDeletion,
  type RestoredRecord,
  undoMs,
} from "../../domain/deletion.ts";
import { messageOf } from "../../domain/errors.ts";
import type { DeletedFile, EndedDeletion, Removal } from "../../store/deletions.ts";
import type { Store } from "../../store/store.ts";
import type { DeploymentMemory } from "../deploy/deployment-memory.ts";
import { type ArchiveCheck, archiveNotes } from "../drivers/archive-check.ts";

/** What of a service the deletions need. */
interface UndoServices {
  readonly store: Store;
  readonly memory: Pick<DeploymentMemory, "beforeRemoval" | "removed" | "restored">;
  readonly archives: Pick<ArchiveCheck, "readStateOf">;
  readonly clock: () => number;
  readonly log: (line: string) => void;
  /** How long a deletion can be taken back, in milliseconds. */
  readonly undoMs?: number | undefined;
}

/** Pages say of this many deletions what came back with them, the latest ones. */
const maxRemembered = 200;
/** Files that could not be deleted are tried again after this long. */
const retryMs = 60_000;

/**
 * Deletes records so that it can be taken back for a while. Then, and where there is no room to keep them, they go for
 * good with their files: first the records on disk, then the files, then the last trace of both.
 */
export class Undo {
  readonly #services: UndoServices;
  readonly #undoMs: number;
  /** Final deletions whose files are being deleted. */
  readonly #clearing = new Map<number, Promise<void>>();
  readonly #restored = new RecentMap<number, RestoredRecord>(maxRemembered);
  #timer: NodeJS.Timeout | undefined;
  #ending: Promise<void> = Promise.resolve();
  #hasFailed = false;
  #isClosed = false;

  constructor(services: UndoServices) {
    this.#services = services;
    this.#undoMs = services.undoMs ?? undoMs;
  }

  /** Ends what a service before this one kept for long enough, and clears away what it left. */
  async start(): Promise<void> {
    await this.#clear(this.#services.store.deletions.ended());
    await this.#endDue();
  }

  /** Ends nothing more; settles when nothing is being cleared away. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#ending;
    await Promise.all(this.#clearing.values());
  }

  /** What can be taken back, the latest first. */
  list(): RecentDeletion[] {
    const { store, clock } = this.#services;
    const now = clock();
    const left = (deletedAt: number) => Math.min(this.#undoMs, Math.max(0, deletedAt + this.#undoMs - now));
    return store.deletions.list().map((deletion) => ({ ...deletion, leftMs: left(deletion.deleted_at) }));
  }

  /** One that can be taken back. */
  find(id: number): KeptDeletion | undefined {
    return this.#services.store.deletions.find(id);
  }

  /** What came back with a deletion, a short while ago. */
  restored(id: number): RestoredRecord | undefined {
    return this.#restored.get(id);
  }

  /** @returns the deletion's id; undefined where it is final. @throws UserError "not-found" */
  async removePrinter(id: number): Promise<number | undefined> {
    return this.#removePrinters([id], () => this.#services.store.manyPrinters.remove(id));
  }

  /**
   * Deletes all of these printers or none, as one deletion.
   * @throws UserError "invalid" where one of them is not there
   */
  removePrinters(ids: readonly number[]): Promise<number | undefined> {
    return this.#removePrinters(ids, () => this.#services.store.manyPrinters.removeMany(ids));
  }

  async #removePrinters(ids: readonly number[], remove: () => Promise<Removal>): Promise<number | undefined> {
    await this.#services.memory.beforeRemoval(ids);
    const deletion = await this.settle(await remove());
    this.#services.memory.removed(ids);
    return deletion;
  }

  /** @throws UserError "not-found", or "conflict" naming the printers that the client still has */
  async removeClient(id: number): Promise<number | undefined> {
    return this.settle(await this.#services.store.clients.remove(id));
  }

  /** @throws UserError "not-found", or "conflict" where it is in use */
  async removeDriver(id: number): Promise<number | undefined> {
    const { store } = this.#services;
    const { drivers, blobs } = store;
    const isFinal = await store.isNearlyFull();
    // In turn with uploads: one of the same content may be answering with this record.
    return this.settle(await blobs.inTurn(drivers.get(id).sha256, () => drivers.remove(id, isFinal)));
  }

  /** Takes a printer's icon away, if it has one. @throws UserError "not-found" when there is no such printer */
  async removeIcon(printerId: number): Promise<number | undefined> {
    return this.settle(await this.#services.store.icons.remove(printerId));
  }

  /** Clears away what a write ended, and waits for the end of what it kept. @returns the id of that; undefined where it is final */
  async settle({ kept, ended }: Removal): Promise<number | undefined> {
    this.#plan();
    await this.#clear(ended);
    return kept;
  }

  /** Takes a deletion back. @throws NotRestored where something stands in the way */
  async restore(id: number): Promise<RestoredRecord> {
    const { store, memory } = this.#services;
    const { record: whole, printerIds, removal } = await store.restoring.restore(id);
    memory.restored(printerIds);
    const record = { ...whole, notes: [...whole.notes, ...(await archiveNotes(this.#services, whole))] };
    this.#restored.set(id, record);
    if (removal !== undefined) await this.settle(removal);
    return record;
  }

  /** Makes a deletion final before its time. @throws NotRestored where there is no such deletion */
  async end(id: number): Promise<void> {
    if ((await this.#end([id], true)) === 0) throw new NotRestored(undefined, { kind: "over" });
  }

  /** @param isAsked whether a person wants it so before its time. @returns how many of them were kept until then */
  async #end(ids: readonly number[], isAsked: boolean): Promise<number> {
    const { count, ended } = await this.#services.store.deletions.end(ids, isAsked);
    await this.#clear(ended);
    return count;
  }

  /** Deletes the files of final deletions that nothing else needs, then forgets the deletions. @param ended as it is on disk */
  async #clear(ended: readonly EndedDeletion[]): Promise<void> {
    const begun = ended.filter(({ id }) => !this.#clearing.has(id));
    for (const deletion of begun) this.#clearing.set(deletion.id, this.#clearOne(deletion));
    await Promise.all(begun.map(({ id }) => this.#clearing.get(id)));
  }

  async #clearOne({ id, files }: EndedDeletion): Promise<void> {
    try {
      for (const file of files) await this.#removeFile(file);
      await this.#services.store.deletions.forget(id);
    } catch (error) {
      this.#fail("files of deleted records are still there", error);
    } finally {
      this.#clearing.delete(id);
    }
  }

  /** A record or another deletion may have the same file, and an upload of it may have come first. */
  async #removeFile(file: DeletedFile): Promise<void> {
    const { store } = this.#services;
    const { blobs, deletions, keptFiles } = store;
    const { kind, sha256 } = file;
    await blobs.inTurn(sha256, async () => {
      if (store[kind].hasDigest(sha256) || deletions.needsFile(file, this.#clearing)) return;
      if (await keptFiles.keep(file, blobs.pathOf(kind, sha256))) return;
      await blobs.remove(kind, sha256);
    });
  }

  /** Ends deletions when the time of the next one is over, and tries again later where a file could not be deleted. */
  #plan(): void {
    clearTimeout(this.#timer);
    const next = this.#hasFailed ? retryMs : Math.min(...this.list().map(({ leftMs }) => leftMs));
    if (this.#isClosed || next === Number.POSITIVE_INFINITY) return;
    const end = () => {
      this.#ending = this.#endDue();
    };
    this.#timer = setTimeout(end, next).unref();
  }

  #fail(what: string, error: unknown): void {
    this.#hasFailed = true;
    this.#services.log(`warning: ${what}: ${messageOf(error)}`);
    this.#plan();
  }

  async #endDue(): Promise<void> {
    const due = this.list().flatMap(({ id, leftMs }) => (leftMs === 0 ? id : []));
    const isAgain = this.#hasFailed;
    this.#hasFailed = false;
    try {
      if (due.length > 0 || isAgain) await this.#end(due, false);
      this.#plan();
    } catch (error) {
      this.#fail("what was deleted is still kept", error);
    }
  }
}
