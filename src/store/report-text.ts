import { deflateRawSync, inflateRawSync } from "node:zlib";

/** Shorter texts are kept as they are. */
const packedFromLength = 4096;
/** Of a report's JSON, unpacked; larger than any that is made. */
const limitBytes = 16 * 1024 * 1024;

/**
 * A report's JSON as its column holds it. The database is saved whole with each write, and a ZIP of some kilobytes
 * can name its models in megabytes: what it is packed into is no larger than the ZIP was.
 */
export function packReport(json: string): string {
  if (json.length < packedFromLength) return json;
  return deflateRawSync(Buffer.from(json, "utf8"), { level: 1 }).toString("base64");
}

/** The JSON again; rows of earlier versions are JSON themselves. @throws Error when it is neither */
export function unpackReport(text: string): string {
  if (text.startsWith("{")) return text;
  return inflateRawSync(Buffer.from(text, "base64"), { maxOutputLength: limitBytes }).toString("utf8");
}
