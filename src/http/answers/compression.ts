import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { WorkQueue } from "../../workers/admission.ts";

/** In characters. Compression of a shorter text saves less than its headers cost. */
export const minCompressedLength = 1024;

/** Whether a client accepts gzip (RFC 9110, 12.5.3). */
export function acceptsGzip(accepted: string | readonly string[] | undefined): boolean {
  return String(accepted ?? "")
    .toLowerCase()
    .split(",")
    .map((part) => part.split(";").map((piece) => piece.trim()))
    .some(([name, weight = "q=1"]) => name === "gzip" && !/^q=0(?:\.0{0,3})?$/.test(weight));
}

/** Compresses bytes on a thread of Node's pool. @param level from 1 to 9, the smallest */
export function compress(bytes: Uint8Array, level: number): Promise<Uint8Array> {
  return promisify(gzip)(bytes, { level });
}

/** Compresses two pages at a time: the other two of the four threads in Node's pool read and write files. */
const queue = new WorkQueue(2);

/** Compresses a page, quickly: it is compressed for each request. */
export function compressPage(bytes: Uint8Array): Promise<Uint8Array> {
  return queue.run(() => compress(bytes, 3));
}
