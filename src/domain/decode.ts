import { isUtf8 } from "node:buffer";

/**
 * Turns the bytes of an INF or a list into text. Windows reads UTF-16 and UTF-8 with a byte order mark and
 * takes everything else for the system's ANSI code page, which nobody knows here: bytes that are
 * valid UTF-8 are read as that, all others as Windows-1252. No byte sequence is refused.
 */
export function decodeText(bytes: Uint8Array): string {
  const [a, b, c] = bytes;
  if (a === 0xff && b === 0xfe) return decode("utf-16le", bytes.subarray(2));
  if (a === 0xfe && b === 0xff) return decode("utf-16be", bytes.subarray(2));
  if (a === 0xef && b === 0xbb && c === 0xbf) return decode("utf-8", bytes.subarray(3));
  const silent = utf16WithoutMark(bytes);
  if (silent !== undefined) return decode(silent, bytes);
  return isUtf8(bytes) ? decode("utf-8", bytes) : decodeWindows1252(bytes);
}

const windows1252High = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** Node's own decoder takes these bytes for Latin-1 in some versions, so the 32 that differ are ours. */
function decodeWindows1252(bytes: Uint8Array): string {
  const units = Uint16Array.from(bytes);
  for (let i = 0; i < units.length; i++) {
    const unit = units[i] ?? 0;
    if (unit >= 0x80 && unit < 0xa0) units[i] = windows1252High.charCodeAt(unit - 0x80);
  }
  return new TextDecoder("utf-16le", { ignoreBOM: true }).decode(units);
}

function decode(encoding: "utf-8" | "utf-16le" | "utf-16be", bytes: Uint8Array): string {
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
}

/** UTF-16 without a mark: nearly every second byte of its beginning is zero. */
function utf16WithoutMark(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  const pairs = Math.min(bytes.length >> 1, 256);
  if (pairs < 8) return undefined;
  let evenZeros = 0;
  let oddZeros = 0;
  for (let i = 0; i < pairs; i++) {
    if (bytes[2 * i] === 0) evenZeros++;
    if (bytes[2 * i + 1] === 0) oddZeros++;
  }
  if (oddZeros > pairs * 0.8 && evenZeros < pairs * 0.1) return "utf-16le";
  if (evenZeros > pairs * 0.8 && oddZeros < pairs * 0.1) return "utf-16be";
  return undefined;
}
