import { isUtf8 } from "node:buffer";

/**
 * Decodes a list: UTF-16 and UTF-8 with a byte order mark, UTF-16 without a mark by its zeros, valid UTF-8 as UTF-8, and
 * all other bytes as Windows-1252. It refuses no bytes.
 */
export function decodeText(bytes: Uint8Array): string {
  return decodeMarked(bytes) ?? (isUtf8(bytes) ? decode("utf-8", bytes) : decodeWindows1252(bytes));
}

/**
 * Decodes an INF as Windows does: without a byte order mark, UTF-8 is read in the system's ANSI code page. Platen does
 * not know that code page and takes Windows-1252.
 */
export function decodeInf(bytes: Uint8Array): string {
  return decodeMarked(bytes) ?? decodeWindows1252(bytes);
}

/** Whether a text says its encoding by a byte order mark, or is UTF-16. */
export function isMarkedText(bytes: Uint8Array): boolean {
  return decodeMarked(bytes.subarray(0, 512)) !== undefined;
}

/**
 * The other reading of a text that `decodeInf` has read as Windows-1252 although its bytes are UTF-8; undefined if its
 * bytes are not UTF-8, or both readings are the same.
 */
export function utf8Reading(text: string): string | undefined {
  if (/^[\0-\x7f]*$/.test(text)) return undefined;
  const codes = Array.from(text, (character) => {
    const high = windows1252High.indexOf(character);
    return high < 0 ? (character.codePointAt(0) ?? 0) : 0x80 + high;
  });
  if (codes.some((code) => code > 0xff)) return undefined;
  const bytes = Uint8Array.from(codes);
  return isUtf8(bytes) ? decode("utf-8", bytes) : undefined;
}

function decodeMarked(bytes: Uint8Array): string | undefined {
  const [a, b, c] = bytes;
  if (a === 0xff && b === 0xfe) return decode("utf-16le", bytes.subarray(2));
  if (a === 0xfe && b === 0xff) return decode("utf-16be", bytes.subarray(2));
  if (a === 0xef && b === 0xbb && c === 0xbf) return decode("utf-8", bytes.subarray(3));
  const unmarked = utf16WithoutMark(bytes);
  return unmarked && decode(unmarked, bytes);
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
