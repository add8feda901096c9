import type { OpenFile } from "../domain/byte-source.ts";
import {
  type Contents,
  contentsData,
  contentsKey,
  type Described,
  type LaidOutZip,
  type SourceFile,
  sourcesOf,
} from "../pkg/formats/contents.ts";
import type { OpenZip, Workshop } from "../pkg/formats/format.ts";
import { type Seal, type SealKeys, sealedChunkBytes } from "../pkg/formats/intunewin.ts";
import { fillFromLayout } from "../pkg/zip/layout.ts";
import type { FileSource } from "../store/files.ts";
import type { Store } from "../store/store.ts";
import type { Workers } from "../workers/pool.ts";
import { ahead } from "../workers/prefetch.ts";
import { LruCache } from "./lru-cache.ts";

/** Read at a time for a download that is not sealed: large pieces for the first ones, small for the many. */
const largePieceBytes = 512 * 1024;
const smallPieceBytes = 64 * 1024;
const largePieceDownloads = 16;

/** Pieces of a download that are made or waiting to be sent. */
const piecesAhead = 2;

/** Lays out, opens, reads and seals; long work is done on other threads. */
export class PackageWorkshop implements Workshop {
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #layouts = new LruCache<Described>({
    count: 256,
    weight: 64 * 1024 * 1024,
    weigh: ({ layout }) => layout.literals.byteLength + layout.table.byteLength,
  });
  readonly #seals = new LruCache<Seal>({ count: 64, weight: Number.POSITIVE_INFINITY, weigh: () => 0 });
  readonly #digests = new LruCache<string>({ count: 1024, weight: Number.POSITIVE_INFINITY, weigh: () => 0 });
  #plainDownloads = 0;

  constructor(store: Store, workers: Workers) {
    this.#store = store;
    this.#workers = workers;
  }

  get secret(): Uint8Array {
    return this.#store.secret;
  }

  /** @throws UserError "invalid" when an archive is missing or damaged */
  async layOut(contents: Contents): Promise<LaidOutZip> {
    const data = contentsData(contents);
    const described = await this.#layouts.get(contentsKey(data), () =>
      this.#withOpen(contents.drivers, (archives) =>
        this.#workers.layOut({ contents: data, archives: archives.map(openFile) }),
      ),
    );
    return { ...described, sources: sourcesOf(contents) };
  }

  async open(zip: LaidOutZip): Promise<OpenZip> {
    const files = await this.#openAll(zip.sources);
    return {
      read: (start, end) => this.#read(zip, files, start, end),
      measure: (keys) => this.#measure(zip, files, keys),
      seal: (keys, seal, from, to) => this.#seal(zip, files, keys, seal, from, to),
      close: () => closeAll(files),
    };
  }

  /** SHA-256 of a whole ZIP, in hex; remembered. */
  digest(zip: LaidOutZip): Promise<string> {
    return this.#digests.get(nameOf(zip), () =>
      this.#withOpen(zip.sources, async (files) =>
        Buffer.from(await this.#workers.digest(workerInput(zip, files))).toString("hex"),
      ),
    );
  }

  /** All of them, or none: an error closes what was opened before it. */
  async #openAll(sources: readonly SourceFile[]): Promise<FileSource[]> {
    const files: FileSource[] = [];
    try {
      for (const source of sources) files.push(await this.#openOne(source));
      return files;
    } catch (error) {
      await closeAll(files);
      throw error;
    }
  }

  async #openOne(source: SourceFile): Promise<FileSource> {
    const file = await this.#store.blobs.open(source.path);
    if (file === undefined) throw source.refusal("missing");
    if (file.size === source.size) return file;
    await file.close();
    throw source.refusal("damaged");
  }

  async #withOpen<T>(sources: readonly SourceFile[], use: (files: FileSource[]) => Promise<T>): Promise<T> {
    const files = await this.#openAll(sources);
    try {
      return await use(files);
    } finally {
      await closeAll(files);
    }
  }

  /** Reads ahead, so that the disk and the network work at the same time. */
  async *#read({ layout }: LaidOutZip, files: readonly FileSource[], start: number, end: number) {
    this.#plainDownloads++;
    try {
      const size = this.#plainDownloads <= largePieceDownloads ? largePieceBytes : smallPieceBytes;
      const room = () => Buffer.allocUnsafeSlow(Math.min(size, end - start));
      yield* ahead(piecesAhead, Math.ceil((end - start) / size), room, async (i, buffer) => {
        const at = start + i * size;
        const piece = buffer.subarray(0, Math.min(size, end - at));
        await fillFromLayout(layout, files, at, piece);
        return piece;
      });
    } finally {
      this.#plainDownloads--;
    }
  }

  /** Downloads of the same ZIP share one pass: whoever began it keeps the files open until it is done. */
  async #measure(zip: LaidOutZip, files: readonly FileSource[], keys: SealKeys): Promise<Seal> {
    return this.#seals.get(nameOf(zip), () => this.#workers.measure({ ...workerInput(zip, files), keys }));
  }

  /** Asks for a few chunks ahead, so that both threads seal while others are sent. */
  async *#seal(
    zip: LaidOutZip,
    files: readonly FileSource[],
    keys: SealKeys,
    seal: Seal,
    from: number,
    to: number,
  ) {
    const room = () => new Uint8Array(new SharedArrayBuffer(sealedChunkBytes));
    const input = workerInput(zip, files);
    yield* ahead(piecesAhead, to - from, room, async (i, sealed) => {
      const index = from + i;
      const state = seal.checkpoints.slice(index * 16, index * 16 + 16);
      const length = await this.#workers.seal({ ...input, keys, state, index, sealed });
      return sealed.subarray(0, length);
    });
  }
}

function nameOf({ digest }: LaidOutZip): string {
  return Buffer.from(digest).toString("hex");
}

function workerInput({ layout }: LaidOutZip, files: readonly FileSource[]) {
  return { layout, files: files.map(openFile) };
}

function openFile({ descriptor, size }: OpenFile): OpenFile {
  return { descriptor, size };
}

async function closeAll(files: readonly FileSource[]): Promise<void> {
  await Promise.all(files.map((file) => file.close()));
}
