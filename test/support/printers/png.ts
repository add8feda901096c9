import { crc32, deflateSync } from "node:zlib";

/** A grey PNG. @param padding bytes of an extra chunk */
export function makePng(width = 256, height = 256, padding = 0): Buffer {
  const before = padding > 0 ? [pngChunk("prVt", Buffer.alloc(padding))] : [];
  return makePicture({ width, height, before });
}

/** The header and content of a picture, which may contradict each other; by default 256 × 256 grey pixels of 8 bits. */
export interface Picture {
  readonly width?: number;
  readonly height?: number;
  readonly depth?: number;
  readonly colour?: number;
  readonly compression?: number;
  readonly filter?: number;
  readonly interlace?: number;
  /** Bytes of the palette; 0: none. */
  readonly palette?: number;
  /** Chunks between header and palette. */
  readonly before?: readonly Buffer[];
  /** Chunks instead of the picture data. */
  readonly data?: readonly Buffer[];
  /** Chunks after the picture data. */
  readonly after?: readonly Buffer[];
  /** Uncompressed bytes instead of the rows. */
  readonly rows?: Buffer;
}

export function makePicture(picture: Picture = {}): Buffer {
  const { width = 256, height = 256, depth = 8, colour = 0, compression = 0 } = picture;
  const { filter = 0, interlace = 0, palette = 0, before = [], after = [] } = picture;
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, depth, colour, compression, filter, interlace]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", header),
    ...before,
    ...(palette > 0 ? [pngChunk("PLTE", Buffer.alloc(palette, 0x40))] : []),
    ...(picture.data ?? [pngChunk("IDAT", deflateSync(picture.rows ?? pictureRows(picture)))]),
    ...after,
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Grey rows with their filter bytes. The Adam7 pass of each pixel comes from an 8 × 8 pattern. */
export function pictureRows(picture: Picture = {}): Buffer {
  const { width = 256, height = 256, depth = 8, colour = 0, interlace = 0 } = picture;
  const bits = depth * ([1, 0, 3, 1, 2, 0, 4][colour] ?? 0);
  const rows: Buffer[] = [];
  for (const pass of interlace === 1 ? "1234567" : "1") {
    for (let y = 0; y < height; y++) {
      const pixels = interlace === 1 ? pixelsOf(pass, y, width) : width;
      if (pixels > 0) rows.push(Buffer.alloc(1 + Math.ceil((pixels * bits) / 8), 0x80).fill(y % 5, 0, 1));
    }
  }
  return Buffer.concat(rows);
}

/** The pass of each pixel in an 8 × 8 block. */
const adam7 = "16462646 77777777 56565656 77777777 36463646 77777777 56565656 77777777".split(" ");

/** The number of pixels of a row that belong to a pass. */
function pixelsOf(pass: string, y: number, width: number): number {
  let pixels = 0;
  for (let x = 0; x < width; x++) if (adam7[y % 8]?.[x % 8] === pass) pixels++;
  return pixels;
}

/** A chunk with its length and checksum. */
export function pngChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}
