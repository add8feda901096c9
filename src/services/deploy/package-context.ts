import { LruCache } from "../../domain/collections.ts";
import { type EncryptedPrefix, type EncryptionInfo, prefixSize } from "../../pkg/formats/checkpoints.ts";
import {
  type Contents,
  contentsKey,
  type Described,
  type DriverFiles,
  driverFolders,
  driversKey,
  type LaidOutDrivers,
  type LaidOutFile,
  type LaidOutZip,
  packageTail,
  sourcesOf,
} from "../../pkg/formats/contents.ts";
import { blockBytes, chunkBytes, type EncryptionKeys, type Span } from "../../pkg/formats/encryption.ts";
import type { EncryptingZip, OpenPackage, PackageContext } from "../../pkg/formats/format.ts";
import { fillFromLayout, layoutBytes } from "../../pkg/zip/layout.ts";
import type { FileSource } from "../../store/files.ts";
import type { Store } from "../../store/store.ts";
import type { Workers } from "../../workers/pool.ts";
import { type Prefetching, prefetch } from "../../workers/prefetch.ts";
import { keptPrefixes, type LaidOut } from "../../workers/tasks.ts";
import { closeSources, openFiles, openSources, withSources } from "../drivers/source-files.ts";

/** Lays out and opens packages; long work is done on other threads, and remembered. */
export class StoredPackageContext implements PackageContext {
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #caches = new PackageCaches();

  constructor(store: Store, workers: Workers) {
    this.#store = store;
    this.#workers = workers;
  }

  get secret(): Uint8Array {
    return this.#store.secret;
  }

  /** @throws UserError "invalid" when an archive is missing or damaged */
  async layOut(contents: Contents): Promise<LaidOutZip> {
    const end = packageTail(contents);
    const key = contentsKey(driverFolders(contents), end);
    const drivers = await this.#layOutDrivers(contents.drivers);
    const described = await this.#caches.layouts.get(key, () => this.#workers.layOut({ drivers, end }));
    return { ...described, drivers, sources: sourcesOf(contents) };
  }

  async openPlain(file: LaidOutFile): Promise<OpenPackage> {
    return openPlain(file, await openSources(this.#store.blobs, file.sources));
  }

  async openForEncryption(zip: LaidOutZip): Promise<EncryptingZip> {
    const files = await openSources(this.#store.blobs, zip.sources);
    return new EncryptedOnThreads(zip, files, this.#workers, this.#caches);
  }

  /** SHA-256 of a whole ZIP, in hex; remembered. */
  digest(zip: LaidOutZip): Promise<string> {
    return this.#caches.digests.get(nameOf(zip.digest), () =>
      withSources(this.#store.blobs, zip.sources, async (files) =>
        nameOf(await this.#workers.digest({ layout: zip.layout, files })),
      ),
    );
  }

  #layOutDrivers(drivers: readonly DriverFiles[]): Promise<LaidOutDrivers> {
    const folders = driverFolders({ drivers });
    return this.#caches.drivers.get(driversKey(folders), () =>
      withSources(this.#store.blobs, drivers, (archives) =>
        this.#workers.layOutDrivers({ drivers: folders, archives }),
      ),
    );
  }
}

/** Read or encrypted at a time for a download: large pieces for the first ones, small for the many. */
const smallPieceBytes = 64 * 1024;
const largePieceDownloads = 32;

/** How many downloads there are at the moment. */
let downloads = 0;

/** Yields pieces while the next one is made. @param make given their size */
async function* inPieces(make: (pieceBytes: number) => Prefetching): AsyncGenerator<Uint8Array> {
  downloads++;
  try {
    yield* prefetch(make(downloads > largePieceDownloads ? smallPieceBytes : chunkBytes));
  } finally {
    downloads--;
  }
}

/** Opens a file that is sent as it is laid out, reading in advance. @param files its sources, closed with it */
function openPlain({ layout }: LaidOutFile, files: readonly FileSource[]): OpenPackage {
  const chunks = (start: number, end: number) =>
    inPieces((size) => ({
      count: Math.ceil((end - start) / size),
      buffer: () => Buffer.allocUnsafeSlow(Math.min(size, end - start)),
      make: async (i, buffer) => {
        const at = start + i * size;
        const piece = buffer.subarray(0, Math.min(size, end - at));
        await fillFromLayout(layout, files, at, piece);
        return piece;
      },
    }));
  return { chunks, close: () => closeSources(files) };
}

/** A ZIP that is encrypted as it is sent, on other threads. */
class EncryptedOnThreads implements EncryptingZip {
  readonly #zip: LaidOutZip;
  readonly #files: readonly FileSource[];
  readonly #workers: Workers;
  readonly #caches: PackageCaches;

  /** @param files the ZIP's sources; this closes them */
  constructor(zip: LaidOutZip, files: readonly FileSource[], workers: Workers, caches: PackageCaches) {
    this.#zip = zip;
    this.#files = files;
    this.#workers = workers;
    this.#caches = caches;
  }

  /**
   * Downloads of the same ZIP share the work, and those of the same drivers the work for these: whoever began it keeps
   * the files open until it is done.
   */
  encryptionInfo(keys: EncryptionKeys): Promise<EncryptionInfo> {
    return this.#caches.encryptionInfos.get(nameOf(this.#zip.digest), async () => {
      const prefix = await this.#prefix(keys);
      return this.#workers.finish({ ...this.#laidOut(), keys, prefix, name: nameOf(keys.iv) });
    });
  }

  async prepare(keys: EncryptionKeys): Promise<void> {
    await this.#prefix(keys);
  }

  /** Encrypts one piece while another is sent: more at a time are no quicker on two cores, and take more memory. */
  async *encrypt(
    keys: EncryptionKeys,
    info: EncryptionInfo,
    from: number,
    to: number,
  ): AsyncGenerator<Uint8Array> {
    const { size } = this.#zip.layout;
    const first = from - (from % chunkBytes);
    let at = first;
    let before: Promise<Uint8Array> | undefined;
    const pieces = inPieces((pieceBytes) => ({
      count: Math.floor((Math.min(to - 1, lastPieceAt(size, pieceBytes)) - first) / pieceBytes) + 1,
      buffer: () => new Uint8Array(new SharedArrayBuffer(pieceBytes + blockBytes)),
      make: (i, buffer) => {
        const start = first + i * pieceBytes;
        const span = { start, end: Math.min(start + pieceBytes, size) };
        const piece = this.#encryptPiece(keys, span, stateAt(start, info) ?? before, buffer);
        before = piece.then((encrypted) => encrypted.slice(-blockBytes));
        before.catch(() => {});
        return piece;
      },
    }));
    for await (const piece of pieces) {
      yield piece.subarray(Math.max(0, from - at), to - at);
      at += piece.length;
    }
  }

  /** @param state of the cipher before the piece */
  async #encryptPiece(
    keys: EncryptionKeys,
    span: Span,
    state: Uint8Array | Promise<Uint8Array> | undefined,
    buffer: Uint8Array,
  ): Promise<Uint8Array> {
    const input = { ...this.#laidOut(), keys, state: (await state) ?? keys.iv, span, encrypted: buffer };
    return buffer.subarray(0, await this.#workers.encrypt(input));
  }

  close(): Promise<void> {
    return closeSources(this.#files);
  }

  /** What packages of these drivers begin with, encrypted and digested once for all of them. */
  async #prefix(keys: EncryptionKeys): Promise<EncryptedPrefix> {
    const { drivers } = this.#zip;
    const size = prefixSize(drivers.prefix.files.size);
    if (size === 0) return { size, checkpoints: new Uint8Array(), state: keys.iv };
    const name = nameOf(keys.iv);
    return this.#caches.prefixes.get(name, () =>
      this.#workers.encryptPrefix({ ...this.#laidOut(), keys, size, name }),
    );
  }

  #laidOut(): LaidOut {
    return { layout: this.#zip.layout, files: openFiles(this.#files) };
  }
}

/** Where the last piece of a payload begins, which is padded and may hold nothing else. */
function lastPieceAt(size: number, pieceBytes: number): number {
  return size % chunkBytes === 0 ? size : size - 1 - ((size - 1) % pieceBytes);
}

/** The cipher's state where a chunk begins; undefined elsewhere, where it is the last block before. */
function stateAt(start: number, { checkpoints }: EncryptionInfo): Uint8Array | undefined {
  if (start % chunkBytes !== 0) return undefined;
  const at = (start / chunkBytes) * blockBytes;
  return checkpoints.slice(at, at + blockBytes);
}

/** A digest in hex. */
function nameOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString("hex");
}

const mebibyte = 1024 * 1024;

/** What is remembered of packages, so that nothing is computed twice. None of it holds a driver's bytes. */
class PackageCaches {
  /** Drivers' files laid out, by `driversKey`: some megabytes for a driver of 60,000 files. */
  readonly drivers = new LruCache<LaidOutDrivers>({
    count: 256,
    weight: 48 * mebibyte,
    weigh: ({ prefix }) => layoutBytes(prefix.files) + layoutBytes(prefix.directory),
  });
  /** ZIPs laid out, by `contentsKey`. Each counts in full, though most of it is shared: then it is quickly made anew. */
  readonly layouts = new LruCache<Described>({
    count: 256,
    weight: 32 * mebibyte,
    weigh: ({ layout }) => layoutBytes(layout),
  });
  /** Beginnings of payloads, by the digest of the drivers: 32 KB for a gigabyte. */
  readonly prefixes = new LruCache<EncryptedPrefix>({
    count: keptPrefixes,
    weight: 8 * mebibyte,
    weigh: ({ checkpoints }) => checkpoints.length,
  });
  /** By the digest of the ZIP. */
  readonly encryptionInfos = new LruCache<EncryptionInfo>({
    count: 256,
    weight: 8 * mebibyte,
    weigh: ({ checkpoints }) => checkpoints.length,
  });
  /** SHA-256 of whole ZIPs in hex, by the digest of the ZIP. */
  readonly digests = new LruCache<string>({ count: 1024, weight: Number.POSITIVE_INFINITY, weigh: () => 0 });
}
