import { crc32, inflateSync } from "node:zlib";
import type { PngTools } from "../domain/png.ts";

/** What zlib answers with the option `info`. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

/** What checking a PNG needs of zlib. Inflating an icon takes a few milliseconds. */
export const pngTools: PngTools = {
  crc32: (data) => crc32(data),
  inflate(data, limit) {
    const options = { maxOutputLength: limit, info: true };
    const { buffer, engine } = inflateSync(data, options) as unknown as Inflated;
    return { bytes: buffer, used: engine.bytesWritten };
  },
};
