/** Reads a stream in pieces of the sizes that are asked for. */
export class StreamBytes {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Up to so many bytes, at least one; undefined at the end. */
  async next(most: number): Promise<Buffer | undefined> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done === true) return undefined;
      this.#rest = value;
    }
    const piece = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  /** Exactly so many bytes, in pieces. @throws Error where there are fewer */
  async *pieces(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      const piece = await this.next(left);
      if (piece === undefined) throw new Error("it ends too early: a copy of it broke off");
      left -= piece.length;
      yield piece;
    }
  }

  /** Exactly so many bytes, at once: a few. @throws Error where there are fewer */
  async exactly(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const piece of this.pieces(bytes)) parts.push(piece);
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }
}
