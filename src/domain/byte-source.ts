/** A file that is open in this process: any of its threads can read it by its number. */
export interface OpenFile {
  readonly descriptor: number;
  /** In bytes. */
  readonly size: number;
}

/** Bytes that can be read at any place: a file of the store, or a buffer in a test. */
export interface ByteSource {
  /** In bytes. */
  readonly size: number;
  /**
   * Reads exactly `length` bytes from `position` on.
   * @throws when there are fewer bytes than that: a file that shrank under us is damaged.
   */
  read(position: number, length: number): Promise<Buffer>;
  /** Fills the targets one after the other with the bytes from `position` on. @throws as `read` does */
  fill(position: number, targets: readonly Uint8Array[]): Promise<void>;
}
