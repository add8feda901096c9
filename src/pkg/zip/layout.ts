import type { ByteSource } from "../../domain/byte-source.ts";

/**
 * The description of a file: a sequence of parts, each made of literal bytes and ranges of sources. Files with a part in
 * common share it.
 */
export interface Layout {
  /** In bytes. */
  readonly size: number;
  readonly parts: readonly LayoutPart[];
}

/** Both arrays are in shared memory, so worker threads read them without a copy. */
export interface LayoutPart {
  /** In bytes. */
  readonly size: number;
  readonly literals: Uint8Array;
  /** Four numbers per segment: start in the part, source (-1 for `literals`), start in the source, length. */
  readonly table: Float64Array;
}

const columns = 4;

export class LayoutBuilder {
  #literals = Buffer.alloc(4 * 1024);
  #table = new Float64Array(columns * 64);
  #literalSize = 0;
  #rows = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  bytes(bytes: Uint8Array): this {
    if (bytes.length === 0) return this;
    const end = this.#literalSize + bytes.length;
    if (end > this.#literals.length) {
      this.#literals = Buffer.concat([this.#literals], Math.max(end, 2 * this.#literals.length));
    }
    this.#literals.set(bytes, this.#literalSize);
    this.#add(-1, this.#literalSize, bytes.length);
    this.#literalSize = end;
    return this;
  }

  range(source: number, offset: number, length: number): this {
    if (length > 0) this.#add(source, offset, length);
    return this;
  }

  build(): Layout {
    const literals = new Uint8Array(new SharedArrayBuffer(this.#literalSize));
    literals.set(this.#literals.subarray(0, this.#literalSize));
    const table = new Float64Array(new SharedArrayBuffer(this.#rows * columns * 8));
    table.set(this.#table.subarray(0, this.#rows * columns));
    const size = this.#size;
    return { size, parts: size === 0 ? [] : [{ size, literals, table }] };
  }

  #add(source: number, offset: number, length: number): void {
    const at = this.#rows * columns;
    this.#size += length;
    // Consecutive literal bytes are one segment.
    if (source === -1 && this.#rows > 0 && this.#table[at - 3] === -1) {
      this.#table[at - 1] = (this.#table[at - 1] ?? 0) + length;
      return;
    }
    if (at === this.#table.length) {
      const larger = new Float64Array(2 * at);
      larger.set(this.#table);
      this.#table = larger;
    }
    this.#table[at] = this.#size - length;
    this.#table[at + 1] = source;
    this.#table[at + 2] = offset;
    this.#table[at + 3] = length;
    this.#rows++;
  }
}

export function joinLayouts(...layouts: readonly Layout[]): Layout {
  return {
    size: layouts.reduce((sum, { size }) => sum + size, 0),
    parts: layouts.flatMap(({ parts }) => parts),
  };
}

/** The memory that a layout uses. */
export function layoutBytes({ parts }: Layout): number {
  return parts.reduce((sum, { literals, table }) => sum + literals.byteLength + table.byteLength, 0);
}

/** The layout of a file that has the same bytes as its only source. @param size in bytes */
export function singleSourceLayout(size: number): Layout {
  return new LayoutBuilder().range(0, 0, size).build();
}

/**
 * Fills `out` with the file's bytes from `start` on.
 * @param sources in the order of their numbers in the layout
 * @throws what a source throws, and RangeError if the file has no such bytes
 */
export async function fillFromLayout(
  layout: Layout,
  sources: readonly ByteSource[],
  start: number,
  out: Uint8Array,
): Promise<void> {
  const end = start + out.length;
  if (start < 0 || end > layout.size) {
    throw new RangeError(`bytes ${start} to ${end} are wanted, but the layout has ${layout.size} bytes`);
  }
  let partStart = 0;
  for (const part of layout.parts) {
    const from = Math.max(start, partStart);
    const to = Math.min(end, partStart + part.size);
    if (from < to)
      await fillFromPart(part, sources, from - partStart, out.subarray(from - start, to - start));
    partStart += part.size;
  }
}

async function fillFromPart(
  part: LayoutPart,
  sources: readonly ByteSource[],
  start: number,
  out: Uint8Array,
): Promise<void> {
  let row = rowAt(part, start);
  while (isWithin(part, row, start + out.length)) {
    row = await copyRun(part, sources, row, start, out);
  }
}

function cell(part: LayoutPart, row: number, column: number): number {
  return part.table[row * columns + column] ?? 0;
}

/** Finds the segment that contains the byte at `position`, by bisection. */
function rowAt(part: LayoutPart, position: number): number {
  let low = 0;
  let high = part.table.length / columns - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (cell(part, middle, 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * The piece of a segment that falls into `out`. @param start of `out` in the part
 * @returns `from`: where its bytes start in the segment's source or in the literals; `target`: where they go
 */
function pieceOf(part: LayoutPart, row: number, start: number, out: Uint8Array) {
  const segmentStart = cell(part, row, 0);
  const skipped = Math.max(0, start - segmentStart);
  const to = Math.max(0, segmentStart - start);
  const length = Math.min(cell(part, row, 3) - skipped, out.length - to);
  return { from: cell(part, row, 2) + skipped, target: out.subarray(to, to + length) };
}

function copyLiteral(part: LayoutPart, row: number, start: number, out: Uint8Array): void {
  const { from, target } = pieceOf(part, row, start, out);
  target.set(part.literals.subarray(from, from + target.length));
}

/** The largest gap between two pieces of a source that are read together. Archives have headers between files. */
const gapLimitBytes = 8192;
const piecesLimit = 400;
const discarded = new Uint8Array(gapLimitBytes);

/**
 * Copies one segment, or several that are close together in one source. Files of a driver are neighbours in its archive,
 * and one read into many buffers is much faster than many reads.
 * @returns the row after the last one copied
 */
async function copyRun(
  part: LayoutPart,
  sources: readonly ByteSource[],
  first: number,
  start: number,
  out: Uint8Array,
): Promise<number> {
  const number = cell(part, first, 1);
  if (number < 0) {
    copyLiteral(part, first, start, out);
    return first + 1;
  }
  const source = sources[number];
  if (source === undefined) throw new Error(`the layout names source ${number}, which is not there`);
  const begin = pieceOf(part, first, start, out);
  const targets = [begin.target];
  let at = begin.from + begin.target.length;
  let next = first + 1;
  for (let row = next; isWithin(part, row, start + out.length) && targets.length < piecesLimit; row++) {
    if (cell(part, row, 1) === -1) continue;
    const piece = pieceOf(part, row, start, out);
    const gap = piece.from - at;
    if (cell(part, row, 1) !== number || gap < 0 || gap > gapLimitBytes) break;
    targets.push(discarded.subarray(0, gap), piece.target);
    at = piece.from + piece.target.length;
    next = row + 1;
  }
  await source.fill(begin.from, targets);
  for (let row = first + 1; row < next; row++)
    if (cell(part, row, 1) === -1) copyLiteral(part, row, start, out);
  return next;
}

function isWithin(part: LayoutPart, row: number, end: number): boolean {
  return row * columns < part.table.length && cell(part, row, 0) < end;
}
