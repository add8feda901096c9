/** An open file. All threads of the process can use the descriptor. */
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
   * Reads exactly `length` bytes, starting at `position`.
   * @throws Error if there are fewer bytes
   */
  read(position: number, length: number): Promise<Buffer>;
  /** Reads into the targets in order until all are full, starting at `position`. @throws Error like `read` */
  fill(position: number, targets: readonly Uint8Array[]): Promise<void>;
}
