import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** How bytes can be packed on the wire, the smaller first: browsers take `br` only where nobody can listen. */
const encodings = ["br", "gzip"] as const;

export type Encoding = (typeof encodings)[number];

/** Below so many characters packing is not worth its headers. */
export const leastPackedLength = 1024;

/** The smallest encoding that a client takes (RFC 9110, 12.5.3); undefined where it takes none of ours. */
export function encodingFor(accepted: string | readonly string[] | undefined): Encoding | undefined {
  const taken = String(accepted ?? "")
    .toLowerCase()
    .split(",")
    .map((part) => part.split(";").map((piece) => piece.trim()))
    .filter(([, weight = "q=1"]) => !/^q=0(?:\.0{0,3})?$/.test(weight))
    .map(([name]) => name);
  return encodings.find((encoding) => taken.includes(encoding));
}

/** How much a client's time is worth: pages are packed for each request, files that stay once. */
type Effort = "quick" | "best";

const gzipLevels = { quick: 5, best: 9 };
const brotliQualities = { quick: 5, best: 11 };

/** Packs bytes, on a thread of Node's pool and not on this one. */
export async function pack(bytes: Uint8Array, encoding: Encoding, effort: Effort): Promise<Uint8Array> {
  if (encoding === "gzip") return promisify(gzip)(bytes, { level: gzipLevels[effort] });
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliQualities[effort],
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    // The window takes memory, and nothing repeats from further away than this.
    [constants.BROTLI_PARAM_LGWIN]: 18,
  };
  return promisify(brotliCompress)(bytes, { params });
}

/** The pool has four threads, and downloads and saves read and write files on them. */
const mostAtOnce = 2;
let running = 0;
const waiting: (() => void)[] = [];

/** The same for a page, two pages at a time: the others wait. */
export async function packPage(bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  if (running >= mostAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await pack(bytes, encoding, "quick");
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

/** Long pages that were packed last: who asks again before anything has changed gets the same bytes. */
const kept: { readonly text: string; readonly encoding: Encoding; readonly bytes: Uint8Array }[] = [];
const mostKept = 2;
/** In characters: shorter ones are packed in no time, and longer ones would take much memory. */
const keptLengths = { min: 64 * 1024, max: 2 * 1024 * 1024 };

/** What the page was packed to, if it was among the last. */
export function packedBefore(text: string, encoding: Encoding | undefined): Uint8Array | undefined {
  return kept.find((page) => page.encoding === encoding && page.text === text)?.bytes;
}

/** Remembers what a page was packed to. */
export function keepPacked(text: string, encoding: Encoding, bytes: Uint8Array): void {
  if (text.length < keptLengths.min || text.length > keptLengths.max) return;
  kept.unshift({ text, encoding, bytes });
  kept.length = Math.min(kept.length, mostKept);
}
