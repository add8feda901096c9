import type { DeletedFile, EndedDeletion } from "../store/deletions.ts";
import type { Store } from "../store/store.ts";

/** Deletes the files of final deletions that nothing else needs, then forgets the deletions. */
export class Clearing {
  readonly #store: Store;
  readonly #failed: (error: unknown) => void;
  /** Final deletions, as they are on disk, whose files are being deleted. */
  readonly #running = new Map<number, Promise<void>>();

  /** @param failed told of each deletion that could not be cleared away: the next start finds it, if nobody else does */
  constructor(store: Store, failed: (error: unknown) => void) {
    this.#store = store;
    this.#failed = failed;
  }

  /** Clears away those that are not being cleared already. @param ended as lasting as the write that told of them */
  async clear(ended: readonly EndedDeletion[]): Promise<void> {
    const begun = ended.filter(({ id }) => !this.#running.has(id));
    for (const deletion of begun) this.#running.set(deletion.id, this.#clear(deletion));
    await Promise.all(begun.map(({ id }) => this.#running.get(id)));
  }

  /** Settles when nothing is being cleared away. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async #clear({ id, files }: EndedDeletion): Promise<void> {
    try {
      for (const file of files) await this.#removeFile(file);
      await this.#store.deletions.forget(id);
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#running.delete(id);
    }
  }

  /** A record or another deletion may have the same file, and an upload of it may have come first. */
  async #removeFile(file: DeletedFile): Promise<void> {
    const { blobs, deletions, keptFiles } = this.#store;
    const { kind, sha256 } = file;
    await blobs.inTurn(sha256, async () => {
      if (this.#store[kind].hasDigest(sha256) || deletions.needsFile(file, this.#running)) return;
      const path = kind === "icons" ? blobs.iconPath(sha256) : blobs.archivePath(sha256);
      if (await keptFiles.keep(file, path)) return;
      await (kind === "icons" ? blobs.removeIcon(sha256) : blobs.removeArchive(sha256));
    });
  }
}
