import { constants, deflateSync, inflateSync } from "node:zlib";
import { pngChunk } from "../test/support/printers/png.ts";

const maxColours = 256;
const bytesPerPixel = 3;

/** Reduces a PNG to at most 256 colours, a third of the bytes. @param png RGB with 8 bits, as Chromium writes it */
export function withPalette(png: Buffer): Buffer {
  const { header, width, height, pixels } = readRgb(png);
  const { indexes, colours } = indexColours(pixels);
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++)
    rows.set(indexes.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  const head = Buffer.from(header);
  // The colour type: indexes into a palette.
  head[9] = 3;
  return Buffer.concat([
    png.subarray(0, 8),
    pngChunk("IHDR", head),
    pngChunk(
      "PLTE",
      Buffer.from(colours.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255])),
    ),
    pngChunk("IDAT", deflateSync(rows, { level: constants.Z_BEST_COMPRESSION })),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Colours as 0xRRGGBB, row by row. */
function readRgb(png: Buffer) {
  const header = png.subarray(16, 29);
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  if (header[8] !== 8 || header[9] !== 2) throw new Error("the picture is no RGB of 8 bits");
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const rows = inflateSync(Buffer.concat(data));
  const stride = width * bytesPerPixel;
  const pixels = new Uint32Array(width * height);
  let above: Buffer = Buffer.alloc(stride);
  for (let y = 0; y < height; y++) {
    const row = rows.subarray(y * (stride + 1), (y + 1) * (stride + 1));
    above = unfiltered(row[0] ?? 0, row.subarray(1), above);
    for (let x = 0; x < width; x++)
      pixels[y * width + x] = above.readUIntBE(x * bytesPerPixel, bytesPerPixel);
  }
  return { header, width, height, pixels };
}

/** PNG, second edition, 9.2. */
function unfiltered(filter: number, row: Buffer, above: Buffer): Buffer {
  const out = Buffer.alloc(row.length);
  for (let i = 0; i < row.length; i++) {
    const left = out[i - bytesPerPixel] ?? 0;
    const up = above[i] ?? 0;
    const corner = above[i - bytesPerPixel] ?? 0;
    const guesses = [0, left, up, (left + up) >> 1, filter === 4 ? paeth(left, up, corner) : 0];
    out[i] = (row[i] ?? 0) + (guesses[filter] ?? 0);
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

/**
 * Merges similar colours into the most frequent one, until at most 256 are left. Similar colours agree in all but the
 * lowest bits of each channel.
 */
function indexColours(pixels: Uint32Array): { indexes: Uint8Array; colours: number[] } {
  const counts = new Map<number, number>();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const byCount = [...counts].sort(([a, n], [b, m]) => m - n || a - b).map(([colour]) => colour);
  for (let droppedBits = 0; droppedBits < 8; droppedBits++) {
    const mask = ((0xff << droppedBits) & 0xff) * 0x010101;
    const indexOf = new Map<number, number>();
    const colours = byCount.filter((colour) => {
      const isFirst = !indexOf.has(colour & mask);
      if (isFirst) indexOf.set(colour & mask, indexOf.size);
      return isFirst;
    });
    if (colours.length <= maxColours)
      return { indexes: Uint8Array.from(pixels, (colour) => indexOf.get(colour & mask) ?? 0), colours };
  }
  throw new Error("two colours of each channel are at most eight");
}
