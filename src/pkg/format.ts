import type { Contents, LaidOutZip } from "./contents.ts";
import type { Seal, SealKeys } from "./intunewin.ts";
import { mdm } from "./mdm.ts";
import { rmm } from "./rmm.ts";

/** A package ready to be sent. Nothing of it is built before its bytes are asked for. */
export interface PackageFile {
  /** In bytes. */
  readonly size: number;
  /** Names these bytes and no others. */
  readonly etag: string;
  /**
   * Everything that takes time and may be refused, before the first byte goes out.
   * @throws UserError "busy"
   */
  prepare(): Promise<void>;
  /**
   * The bytes from `start` up to `end`, which is not included. A chunk is the caller's until it asks for
   * the next one.
   */
  chunks(start: number, end: number): AsyncIterable<Uint8Array>;
}

/** What a format needs of its surroundings. */
export interface Workshop {
  /** The installation's secret. */
  readonly secret: Uint8Array;
  /** Reads a laid-out ZIP from `start` up to `end`. */
  read(zip: LaidOutZip, start: number, end: number): AsyncIterable<Uint8Array>;
  /** The first pass over a ZIP that is to be sealed; remembered by its digest. */
  measure(zip: LaidOutZip, keys: SealKeys): Promise<Seal>;
  /** One sealed chunk after the other, from one number up to another. */
  seal(zip: LaidOutZip, keys: SealKeys, seal: Seal, from: number, to: number): AsyncIterable<Uint8Array>;
}

/** A kind of package. Adding one is a file like `rmm.ts` and a line in `packageFormats`. */
export interface PackageFormat {
  /** In paths and on pages. */
  readonly id: string;
  readonly label: string;
  /** Whether each byte is encrypted as it is sent, which takes memory and a worker thread's time. */
  readonly isSealed: boolean;
  fileName(slug: string): string;
  build(contents: Contents, workshop: Workshop): PackageFile;
}

export const packageFormats: readonly PackageFormat[] = [mdm, rmm];
