import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { Admission } from "../../workers/admission.ts";

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

/**
 * How much a client's time is worth: pages are packed for each request, files that stay once. A list of 2,000 printers takes
 * 3 ms with quality 2, and 22 ms with quality 5 for a sixth less.
 */
type Effort = "quick" | "best";

const gzipLevels = { quick: 3, best: 9 };
const brotliQualities = { quick: 2, best: 11 };

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
const packing = new Admission(2);

/** The same for a page, two pages at a time: the others wait. */
export function packPage(bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  return packing.run(() => pack(bytes, encoding, "quick"));
}
