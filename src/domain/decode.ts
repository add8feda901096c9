import { isUtf8 } from "node:buffer";

/**
 * Decodes an INF or a list. Windows reads UTF-16 and UTF-8 with a byte order mark, and everything else in the system's
 * ANSI code page. Platen does not know that code page: it reads valid UTF-8 as UTF-8, UTF-16 without a mark by its
 * zeros, and all other bytes as Windows-1252. It refuses no bytes.
 */
export function decodeText(bytes: Uint8Array): string {
  const [a, b, c] = bytes;
  if (a === 0xff && b === 0xfe) return decode("utf-16le", bytes.subarray(2));
  if (a === 0xfe && b === 0xff) return decode("utf-16be", bytes.subarray(2));
  if (a === 0xef && b === 0xbb && c === 0xbf) return decode("utf-8", bytes.subarray(3));
  const unmarked = utf16WithoutMark(bytes);
  if (unmarked !== undefined) return decode(unmarked, bytes);
  return isUtf8(bytes) ? decode("utf-8", bytes) : decodeWindows1252(bytes);
}

const windows1252High = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** Some versions of Node decode Windows-1252 as Latin-1, so this table has the 32 bytes that differ. */
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

/** Recognises UTF-16 without a byte order mark: nearly every second byte of its first 512 is zero. */
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
