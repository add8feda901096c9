import { LruCache } from "../../domain/collections.ts";
import { type EncryptedPrefix, type EncryptionInfo, prefixSize } from "../../pkg/formats/checkpoints.ts";
import {
  type Contents,
  contentsKey,
  type DigestedLayout,
  type DriverFiles,
  driverFolders,
  driversKey,
  type LaidOutDrivers,
  type LaidOutFile,
  type LaidOutZip,
  ownContents,
  sourcesOf,
} from "../../pkg/formats/contents.ts";
import { blockBytes, chunkBytes, type EncryptionKeys, type Span } from "../../pkg/formats/encryption.ts";
import type { EncryptingZip, OpenPackage, PackageContext } from "../../pkg/formats/format.ts";
import { fillFromLayout, layoutBytes } from "../../pkg/zip/layout.ts";
import type { FileSource } from "../../store/files.ts";
import type { Store } from "../../store/store.ts";
import type { Workers } from "../../workers/pool.ts";
import { type PrefetchOptions, prefetch } from "../../workers/prefetch.ts";
import { type LaidOut, maxKeptPrefixes } from "../../workers/tasks.ts";
import { closeSources, descriptorsOf, openSources, withSources } from "./source-files.ts";

/** Lays out and opens packages. Worker threads do the long work, and its results are cached. */
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

  /** @throws UserError "invalid" if an archive is missing or damaged */
  async layOut(contents: Contents): Promise<LaidOutZip> {
    const own = ownContents(contents);
    const key = contentsKey(driverFolders(contents), own);
    const drivers = await this.#layOutDrivers(contents.drivers);
    const described = await this.#caches.layouts.get(key, () => this.#workers.layOut({ drivers, own }));
    return { ...described, drivers, sources: sourcesOf(contents) };
  }

  async openPlain(file: LaidOutFile): Promise<OpenPackage> {
    return openPlain(file, await openSources(this.#store.blobs, file.sources));
  }

  async openForEncryption(zip: LaidOutZip): Promise<EncryptingZip> {
    const files = await openSources(this.#store.blobs, zip.sources);
    return new ThreadedEncryption(zip, files, this.#workers, this.#caches);
  }

  /** SHA-256 of a whole ZIP, in hex. It is cached. */
  digest(zip: LaidOutZip): Promise<string> {
    return this.#caches.digests.get(hexOf(zip.digest), () =>
      withSources(this.#store.blobs, zip.sources, async (files) =>
        hexOf(await this.#workers.digest({ layout: zip.layout, files })),
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

/** Piece size of a download that starts while `largePieceDownloads` or more are running. Others use `chunkBytes`. */
const smallPieceBytes = 64 * 1024;
const largePieceDownloads = 32;

let activeDownloads = 0;

/** Makes the next piece while the caller sends the last one. @param make is called with the size of a piece */
async function* inPieces(make: (pieceBytes: number) => PrefetchOptions): AsyncGenerator<Uint8Array> {
  activeDownloads++;
  try {
    yield* prefetch(make(activeDownloads > largePieceDownloads ? smallPieceBytes : chunkBytes));
  } finally {
    activeDownloads--;
  }
}

/** Opens a file that is sent without encryption. @param files its sources, which `close` closes */
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

class ThreadedEncryption implements EncryptingZip {
  readonly #zip: LaidOutZip;
  readonly #files: readonly FileSource[];
  readonly #workers: Workers;
  readonly #caches: PackageCaches;

  /** @param files the ZIP's sources, which `close` closes */
  constructor(zip: LaidOutZip, files: readonly FileSource[], workers: Workers, caches: PackageCaches) {
    this.#zip = zip;
    this.#files = files;
    this.#workers = workers;
    this.#caches = caches;
  }

  /**
   * Downloads of the same ZIP share this work, and ZIPs with the same drivers share the work for the drivers' files.
   * The download that started the work keeps its files open until the work is done.
   */
  encryptionInfo(keys: EncryptionKeys): Promise<EncryptionInfo> {
    return this.#caches.encryptionInfos.get(hexOf(this.#zip.digest), async () => {
      const prefix = await this.#prefix(keys);
      return this.#workers.finish({ ...this.#laidOut(), keys, prefix, name: hexOf(keys.iv) });
    });
  }

  async prepare(keys: EncryptionKeys): Promise<void> {
    await this.#prefix(keys);
  }

  /** Encrypts one piece while another is sent. Several at a time are not faster on two cores and use more memory. */
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

  /** @param state the cipher's state before the piece; undefined for the IV */
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

  /** The beginning of all packages of these drivers, encrypted and digested once. */
  async #prefix(keys: EncryptionKeys): Promise<EncryptedPrefix> {
    const { drivers } = this.#zip;
    const size = prefixSize(drivers.prefix.files.size);
    if (size === 0) return { size, checkpoints: new Uint8Array(), state: keys.iv };
    const name = hexOf(keys.iv);
    return this.#caches.prefixes.get(name, () =>
      this.#workers.encryptPrefix({ ...this.#laidOut(), keys, size, name }),
    );
  }

  #laidOut(): LaidOut {
    return { layout: this.#zip.layout, files: descriptorsOf(this.#files) };
  }
}

/** Start of a payload's last piece, which is padded and may contain only padding. */
function lastPieceAt(size: number, pieceBytes: number): number {
  return size % chunkBytes === 0 ? size : size - 1 - ((size - 1) % pieceBytes);
}

/** The cipher's state at the start of a chunk. Within a chunk undefined: there, it is the last encrypted block. */
function stateAt(start: number, { checkpoints }: EncryptionInfo): Uint8Array | undefined {
  if (start % chunkBytes !== 0) return undefined;
  const at = (start / chunkBytes) * blockBytes;
  return checkpoints.slice(at, at + blockBytes);
}

function hexOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString("hex");
}

const mebibyte = 1024 * 1024;

/** Caches of results about packages. None of them contains the bytes of a driver. */
class PackageCaches {
  /** Laid out drivers, by `driversKey`: some megabytes for a driver of 60,000 files. */
  readonly drivers = new LruCache<LaidOutDrivers>({
    count: 256,
    weight: 48 * mebibyte,
    weigh: ({ prefix }) => layoutBytes(prefix.files) + layoutBytes(prefix.directory),
  });
  /** Laid out ZIPs, by `contentsKey`. Each is charged its full size, although it shares most of it with `drivers`. */
  readonly layouts = new LruCache<DigestedLayout>({
    count: 256,
    weight: 32 * mebibyte,
    weigh: ({ layout }) => layoutBytes(layout),
  });
  /** Beginnings of payloads, by the IV, which is derived from the digest of the drivers: 32 KB per gigabyte. */
  readonly prefixes = new LruCache<EncryptedPrefix>({
    count: maxKeptPrefixes,
    weight: 8 * mebibyte,
    weigh: ({ checkpoints }) => checkpoints.length,
  });
  /** By the digest of the ZIP's layout. */
  readonly encryptionInfos = new LruCache<EncryptionInfo>({
    count: 256,
    weight: 8 * mebibyte,
    weigh: ({ checkpoints }) => checkpoints.length,
  });
  /** SHA-256 of whole ZIPs in hex, by the digest of the ZIP's layout. */
  readonly digests = new LruCache<string>({ count: 1024, weight: Number.POSITIVE_INFINITY, weigh: () => 0 });
}
