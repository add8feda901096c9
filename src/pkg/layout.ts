import type { ByteSource } from "../domain/byte-source.ts";

/**
 * A file that is not built but described: which bytes stand where, literal ones or ranges of sources.
 * Both arrays lie in shared memory, so a worker thread reads them without a copy.
 */
export interface Layout {
  /** In bytes. */
  readonly size: number;
  readonly literals: Uint8Array;
  /** Four numbers a segment: start in the file, source (-1: literal), start in it, length. */
  readonly table: Float64Array;
}

const columns = 4;

/** Collects the segments of a layout, one behind the other. */
export class LayoutBuilder {
  readonly #literals: Uint8Array[] = [];
  readonly #rows: number[] = [];
  #literalSize = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  bytes(bytes: Uint8Array): this {
    if (bytes.length === 0) return this;
    this.#rows.push(this.#size, -1, this.#literalSize, bytes.length);
    this.#literals.push(bytes);
    this.#literalSize += bytes.length;
    this.#size += bytes.length;
    return this;
  }

  range(source: number, offset: number, length: number): this {
    if (length === 0) return this;
    this.#rows.push(this.#size, source, offset, length);
    this.#size += length;
    return this;
  }

  build(): Layout {
    const literals = new Uint8Array(new SharedArrayBuffer(this.#literalSize));
    let at = 0;
    for (const bytes of this.#literals) {
      literals.set(bytes, at);
      at += bytes.length;
    }
    const table = new Float64Array(new SharedArrayBuffer(this.#rows.length * 8));
    table.set(this.#rows);
    return { size: this.#size, literals, table };
  }
}

/**
 * Reads `length` bytes of the file from `start` on.
 * @param sources in the order of their numbers in the layout
 * @throws what a source throws
 */
export async function readLayout(
  layout: Layout,
  sources: readonly ByteSource[],
  start: number,
  length: number,
): Promise<Buffer> {
  const out = Buffer.allocUnsafe(length);
  const end = start + length;
  let row = rowAt(layout, start);
  while (row * columns < layout.table.length && cell(layout, row, 0) < end) {
    row = await copyRun(layout, sources, row, start, out);
  }
  return out;
}

function cell(layout: Layout, row: number, column: number): number {
  return layout.table[row * columns + column] ?? 0;
}

/** The segment that holds the byte at `position`, by bisection. */
function rowAt(layout: Layout, position: number): number {
  let low = 0;
  let high = layout.table.length / columns - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (cell(layout, middle, 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

interface Piece {
  readonly to: number;
  readonly from: number;
  readonly length: number;
}

/** What of a segment falls into `out`, which starts at `start` in the file. */
function pieceOf(layout: Layout, row: number, start: number, out: Buffer): Piece {
  const segmentStart = cell(layout, row, 0);
  const skipped = Math.max(0, start - segmentStart);
  const to = Math.max(0, segmentStart - start);
  const length = Math.min(cell(layout, row, 3) - skipped, out.length - to);
  return { to, from: cell(layout, row, 2) + skipped, length };
}

/**
 * Copies one segment, or several of one source that stand close together there: files of a driver are
 * neighbours in its archive, and one large read is much faster than many small ones.
 * @returns the row behind the last one copied
 */
async function copyRun(
  layout: Layout,
  sources: readonly ByteSource[],
  first: number,
  start: number,
  out: Buffer,
): Promise<number> {
  const number = cell(layout, first, 1);
  if (number < 0) {
    const piece = pieceOf(layout, first, start, out);
    out.set(layout.literals.subarray(piece.from, piece.from + piece.length), piece.to);
    return first + 1;
  }
  const source = sources[number];
  if (source === undefined) throw new Error(`the layout names source ${number}, which is not there`);
  const { rows, pieces } = runFrom(layout, first, start, out);
  const begin = pieces[0]?.from ?? 0;
  const last = pieces.at(-1);
  const bytes = await source.read(begin, last === undefined ? 0 : last.from + last.length - begin);
  for (const piece of pieces)
    out.set(bytes.subarray(piece.from - begin, piece.from - begin + piece.length), piece.to);
  for (const row of rows) {
    const piece = pieceOf(layout, row, start, out);
    out.set(layout.literals.subarray(piece.from, piece.from + piece.length), piece.to);
  }
  return first + rows.length + pieces.length;
}

const gapLimitBytes = 8192;

/** The segments from `first` on that one read can serve, and the literals between them. */
function runFrom(layout: Layout, first: number, start: number, out: Buffer) {
  const source = cell(layout, first, 1);
  const pieces = [pieceOf(layout, first, start, out)];
  const rows: number[] = [];
  let between: number[] = [];
  const end = start + out.length;
  for (let row = first + 1; row * columns < layout.table.length && cell(layout, row, 0) < end; row++) {
    const number = cell(layout, row, 1);
    if (number === -1) {
      between.push(row);
      continue;
    }
    const previous = pieces.at(-1);
    const gap = cell(layout, row, 2) - ((previous?.from ?? 0) + (previous?.length ?? 0));
    if (number !== source || gap < 0 || gap > gapLimitBytes) break;
    pieces.push(pieceOf(layout, row, start, out));
    rows.push(...between);
    between = [];
  }
  return { rows, pieces };
}
