import { UserError } from "./errors.ts";

export const iconPixels = 256;
/** 750 KB, as Intune counts them. */
export const iconLimitBytes = 750 * 1024;

export interface Icon {
  readonly printer_id: number;
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** UTC, milliseconds since 1970. */
  readonly uploaded_at: number;
}

export function iconTooLarge(): UserError {
  return new UserError("too-large", "An icon can have at most 750 KB (768,000 bytes).");
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const remedy = "Save the picture as a PNG of exactly 256 × 256 pixels and upload it again.";

/**
 * Checks a PNG as the specification (ISO/IEC 15948) lays it out: signature, IHDR first, every chunk's
 * length and CRC, picture data, IEND last.
 * @param crc32 as in `zlib.crc32`
 * @throws UserError "invalid" when it is no PNG, damaged, or not 256 × 256 pixels.
 */
export function checkIcon(bytes: Buffer, crc32: (data: Uint8Array) => number): void {
  if (!bytes.subarray(0, 8).equals(signature)) {
    throw new UserError("invalid", `This file is not a PNG. ${remedy}`);
  }
  const chunks = readChunks(bytes, crc32);
  const header = chunks[0];
  if (header?.type !== "IHDR" || header.data.length !== 13)
    throw damaged("it does not start with its header");
  if (!chunks.some((chunk) => chunk.type === "IDAT")) throw damaged("it holds no picture");
  const width = header.data.readUInt32BE(0);
  const height = header.data.readUInt32BE(4);
  if (width === iconPixels && height === iconPixels) return;
  throw new UserError("invalid", `This picture has ${width} × ${height} pixels. ${remedy}`);
}

function readChunks(bytes: Buffer, crc32: (data: Uint8Array) => number): { type: string; data: Buffer }[] {
  const chunks: { type: string; data: Buffer }[] = [];
  let at = signature.length;
  while (chunks.at(-1)?.type !== "IEND") {
    if (at + 12 > bytes.length) throw damaged("it ends too early");
    const end = at + 8 + bytes.readUInt32BE(at);
    if (end + 4 > bytes.length) throw damaged("it ends too early");
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
