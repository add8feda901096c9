/** A file open in this process. All its threads can read it by its descriptor. */
export interface OpenFile {
  readonly descriptor: number;
  /** In bytes. */
  readonly size: number;
}

/** Bytes that can be read at any position: a file of the store, or a buffer in a test. */
export interface ByteSource {
  /** In bytes. */
  readonly size: number;
  /**
   * Reads exactly `length` bytes from `position` on.
   * @throws if there are fewer bytes: a file that shrank is damaged
   */
  read(position: number, length: number): Promise<Buffer>;
  /** Fills the targets in order with the bytes from `position` on. @throws as `read` does */
  fill(position: number, targets: readonly Uint8Array[]): Promise<void>;
}
