import type { Contents, LaidOutZip } from "./contents.ts";
import type { Seal, SealKeys } from "./intunewin.ts";

/** A package ready to be sent. Nothing of it is built before its bytes are asked for. */
export interface PackageFile {
  /** In bytes. */
  readonly size: number;
  /** Names these bytes and no others. */
  readonly etag: string;
  /**
   * Opens what its bytes come from, and does everything that takes time and may be refused.
   * @throws UserError "busy", or "invalid" with the remedy
   */
  open(): Promise<OpenPackage>;
}

/** A package under way: what it takes its bytes from stays open until it is closed. */
export interface OpenPackage {
  /**
   * The bytes from `start` up to `end`, which is not included. A chunk is the caller's until it asks for
   * the next one.
   */
  chunks(start: number, end: number): AsyncIterable<Uint8Array>;
  /** To be called once, when nobody asks for chunks any more. */
  close(): Promise<void>;
}

/** What a format needs of its surroundings. */
export interface Workshop {
  /** The installation's secret. */
  readonly secret: Uint8Array;
  /** Lays out a ZIP; remembered by what goes into it. @throws UserError "invalid" */
  layOut(contents: Contents): Promise<LaidOutZip>;
  /** Opens a ZIP's files. @throws UserError "invalid" when one is not there */
  open(zip: LaidOutZip): Promise<OpenZip>;
}

/** A ZIP whose files are open. */
export interface OpenZip {
  /** Its bytes from `start` up to `end`. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
  /** The first pass over a ZIP that is to be sealed; remembered by its digest. @throws UserError "busy" */
  measure(keys: SealKeys): Promise<Seal>;
  /** One sealed chunk after the other, from one number up to another. */
  seal(keys: SealKeys, seal: Seal, from: number, to: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** A kind of package. Adding one is a file like `rmm.ts` and a line in `packageFormats`. */
export interface PackageFormat {
  /** In paths and on pages. */
  readonly id: string;
  readonly label: string;
  /** Whether each byte is encrypted as it is sent, which takes memory and a worker thread's time. */
  readonly isSealed: boolean;
  readonly hasIcon: boolean;
  fileName(slug: string): string;
  /** @throws UserError "invalid" */
  build(contents: Contents, workshop: Workshop): Promise<PackageFile>;
}
