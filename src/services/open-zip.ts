import { type EncryptedPrefix, type EncryptionInfo, prefixSize } from "../pkg/formats/checkpoints.ts";
import type { LaidOutFile, LaidOutZip } from "../pkg/formats/contents.ts";
import { blockBytes, type EncryptionKeys, encryptedChunkBytes } from "../pkg/formats/encryption.ts";
import type { EncryptingZip, OpenPackage } from "../pkg/formats/format.ts";
import { fillFromLayout } from "../pkg/zip/layout.ts";
import type { FileSource } from "../store/files.ts";
import type { Workers } from "../workers/pool.ts";
import { prefetch } from "../workers/prefetch.ts";
import type { LaidOut } from "../workers/tasks.ts";
import type { PackageCaches } from "./package-caches.ts";
import { closeSources, openFiles, whileUnchanged } from "./source-files.ts";

/** How many plain downloads there are at the moment: many get smaller buffers. */
interface DownloadCount {
  plain: number;
}

/** Read at a time for a download that is not encrypted: large pieces for the first ones, small for the many. */
const largePieceBytes = 512 * 1024;
const smallPieceBytes = 64 * 1024;
const largePieceDownloads = 16;

/** Opens a file that is sent as it is laid out, reading in advance. @param files its sources, closed with it */
export function openPlain(
  { layout }: LaidOutFile,
  files: readonly FileSource[],
  count: DownloadCount,
): OpenPackage {
  async function* chunks(start: number, end: number) {
    count.plain++;
    try {
      const size = count.plain <= largePieceDownloads ? largePieceBytes : smallPieceBytes;
      yield* prefetch({
        width: 1,
        count: Math.ceil((end - start) / size),
        buffer: () => Buffer.allocUnsafeSlow(Math.min(size, end - start)),
        make: async (i, buffer) => {
          const at = start + i * size;
          const piece = buffer.subarray(0, Math.min(size, end - at));
          await fillFromLayout(layout, files, at, piece);
          return piece;
        },
      });
    } finally {
      count.plain--;
    }
  }
  return { chunks, close: () => closeSources(files) };
}

/** A ZIP that is encrypted as it is sent, on other threads. */
export class EncryptedOnThreads implements EncryptingZip {
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
      const name = this.#prefixName(keys);
      return whileUnchanged(this.#files, () =>
        this.#workers.finish({ ...this.#laidOut(), keys, prefix, name }),
      );
    });
  }

  async prepare(keys: EncryptionKeys): Promise<void> {
    await this.#prefix(keys);
  }

  /** Encrypts one chunk while another is sent: more at a time are no quicker on two cores, and take more memory. */
  encrypt(keys: EncryptionKeys, info: EncryptionInfo, from: number, to: number): AsyncGenerator<Uint8Array> {
    return prefetch({
      width: 1,
      count: to - from,
      buffer: () => new Uint8Array(new SharedArrayBuffer(encryptedChunkBytes)),
      make: async (i, encrypted) => {
        const index = from + i;
        const state = info.checkpoints.slice(index * blockBytes, (index + 1) * blockBytes);
        const length = await this.#workers.encrypt({ ...this.#laidOut(), keys, state, index, encrypted });
        return encrypted.subarray(0, length);
      },
    });
  }

  close(): Promise<void> {
    return closeSources(this.#files);
  }

  /** What packages of these drivers begin with, encrypted and digested once for all of them. */
  async #prefix(keys: EncryptionKeys): Promise<EncryptedPrefix> {
    const { drivers } = this.#zip;
    const size = prefixSize(drivers.prefix.files.size);
    if (size === 0) return { size, checkpoints: new Uint8Array(), state: keys.iv };
    const name = this.#prefixName(keys);
    return this.#caches.prefixes.get(name, () =>
      whileUnchanged(this.#files, () =>
        this.#workers.encryptPrefix({ ...this.#laidOut(), keys, size, name }),
      ),
    );
  }

  /**
   * Names the drivers and their archives' versions, but no icon, which stands behind them. A thread keeps digests of
   * what it read: of an archive that was written meanwhile, nobody asks for them again.
   */
  #prefixName({ iv }: EncryptionKeys): string {
    const archives = this.#files.slice(0, this.#zip.drivers.sourceCount);
    return [nameOf(iv), ...archives.map(({ version }) => version)].join(" ");
  }

  #laidOut(): LaidOut {
    return { layout: this.#zip.layout, files: openFiles(this.#files) };
  }
}

/** A digest in hex. */
export function nameOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString("hex");
}
