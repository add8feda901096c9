import { crc32, inflateSync } from "node:zlib";
import { UserError } from "../errors.ts";

const iconSidePixels = 256;
/** Intune allows 750 KB, and 1 KB is 1024 bytes. */
export const iconLimitBytes = 750 * 1024;

export interface Icon {
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** UTC, milliseconds since 1970. */
  readonly uploaded_at: number;
}

/** A record with an icon or preferences. */
export interface FileOwner {
  readonly kind: "printer" | "client";
  readonly id: number;
  /** The file, such as `icon of “Office”`. */
  readonly what: string;
}

export function iconTooLarge(): UserError {
  return new UserError("too-large", "The icon is too large. The limit is 750 KB.");
}

const remedy = "Save the picture as a PNG of exactly 256 × 256 pixels and upload it again.";

const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
/** Pairs of bit depth and colour type that PNG (ISO/IEC 15948, 11.2.2) allows. */
const allowedColours = /^(?:[1248] [03]|16 0|(?:8|16) [246])$/;
/** Encoders write a few dozen chunks. The limit prevents files of many tiny chunks, which are slow to read. */
const chunkLimit = 4096;
/**
 * A pixel has up to four 16-bit samples. The second term is for the filter bytes: each row of each interlacing pass has
 * one.
 */
const unpackedLimitBytes = iconSidePixels * iconSidePixels * 8 + iconSidePixels * 8;

/**
 * Checks that a file is a PNG (ISO/IEC 15948) of 256 × 256 pixels, with correct checksums and with picture data that can
 * be unpacked.
 * @throws UserError "invalid" if any check fails
 */
export function checkIcon(bytes: Buffer): void {
  if (!bytes.subarray(0, signature.length).equals(signature))
    throw new UserError("invalid", `This file is not a PNG. ${remedy}`);
  const chunks = readChunks(bytes);
  const [header] = chunks;
  if (header?.type !== "IHDR" || header.data.length !== 13) throw damaged("its header is missing");
  const [width, height] = [header.data.readUInt32BE(0), header.data.readUInt32BE(4)];
  if (width !== iconSidePixels || height !== iconSidePixels)
    throw new UserError("invalid", `This picture has ${width} × ${height} pixels. ${remedy}`);
  const types = chunks.map(({ type }) => type);
  const [depth, colour] = header.data.subarray(8);
  if (!allowedColours.test(`${depth} ${colour}`) || (colour === 3 && !types.includes("PLTE")))
    throw damaged("its colour format is not valid");
  const packed = chunks.flatMap(({ type, data }) => (type === "IDAT" ? [data] : []));
  if (packed.length === 0) throw damaged("it contains no picture data");
  try {
    inflateSync(Buffer.concat(packed), { maxOutputLength: unpackedLimitBytes });
  } catch {
    throw damaged("its picture data is broken or too long");
  }
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

function readChunks(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  let at = signature.length;
  while (chunks.at(-1)?.type !== "IEND") {
    if (at + 12 > bytes.length) throw damaged("it ends too early");
    const end = at + 8 + bytes.readUInt32BE(at);
    if (end + 4 > bytes.length) throw damaged("it ends too early");
    if (chunks.length === chunkLimit) throw damaged(`it has more than ${chunkLimit} chunks`);
    if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) throw damaged("a checksum is wrong");
    chunks.push({ type: bytes.toString("latin1", at + 4, at + 8), data: bytes.subarray(at + 8, end) });
    at = end + 4;
  }
  if (at !== bytes.length) throw damaged("something follows its end");
  return chunks;
}

function damaged(why: string): UserError {
  return new UserError("invalid", `This PNG is damaged: ${why}. ${remedy}`);
}
