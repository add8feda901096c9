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
  const { width = 256, height = 256, depth = 8, colour = 0, palette = 0, before = [], after = [] } = picture;
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, depth, colour, 0, 0, 0]);
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

/** Rows of equal pixels, with their filter bytes. */
export function pictureRows(picture: Picture = {}): Buffer {
  const { width = 256, height = 256, depth = 8, colour = 0 } = picture;
  const bits = depth * ([1, 0, 3, 1, 2, 0, 4][colour] ?? 0);
  const row = (y: number) => Buffer.alloc(1 + Math.ceil((width * bits) / 8), 0x80).fill(y % 5, 0, 1);
  return Buffer.concat(Array.from({ length: height }, (_, y) => row(y)));
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
