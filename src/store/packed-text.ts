import { deflateRawSync, inflateRawSync } from "node:zlib";

/** Shorter texts are kept as they are. */
const packedFromLength = 4096;
/** Of a text, unpacked; larger than any that is made. */
const limitBytes = 16 * 1024 * 1024;

/**
 * A report's JSON or a PrintTicket's XML as its column holds it. The database is saved whole with each write, and a ZIP of
 * some kilobytes can name its models in megabytes: what it is packed into is no larger than the ZIP was.
 */
export function packText(text: string): string {
  if (text.length < packedFromLength) return text;
  return deflateRawSync(Buffer.from(text, "utf8"), { level: 1 }).toString("base64");
}

/** The text again, which begins as JSON or XML does where it was not packed. @throws Error when it is neither */
export function unpackText(text: string): string {
  if (text === "" || text.startsWith("{") || text.startsWith("<")) return text;
  return inflateRawSync(Buffer.from(text, "base64"), { maxOutputLength: limitBytes }).toString("utf8");
}
