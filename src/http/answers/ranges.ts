import type { IncomingHttpHeaders } from "node:http";

/** Whether the client has these bytes already (RFC 9110, 13.1.2). @param etag with its quotes */
export function isNotModified(headers: IncomingHttpHeaders, etag: string): boolean {
  const known = headers["if-none-match"]?.trim();
  if (known === undefined) return false;
  return known === "*" || known.split(",").some((tag) => withoutWeakness(tag.trim()) === etag);
}

function withoutWeakness(tag: string): string {
  return tag.startsWith("W/") ? tag.slice(2) : tag;
}

/** From `start` up to `end`, which is not included. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The one range that is asked for; undefined when the whole is to be sent: no range, several, one in
 * another unit, or one of bytes that have changed meanwhile (RFC 9110, 14.2 and 13.1.5). Dates are no
 * validators here: two packages made within one second differ.
 * @param etag with its quotes
 */
export function requestedRange(
  headers: IncomingHttpHeaders,
  size: number,
  etag: string,
): ByteRange | "unsatisfiable" | undefined {
  const condition = headers["if-range"];
  if (condition !== undefined && String(condition).trim() !== etag) return undefined;
  const [first, last] = bounds(headers.range ?? "") ?? ["", ""];
  if (first === "") return last === "" ? undefined : lastBytes(Number(last), size);
  const start = Number(first);
  const until = last === "" ? Number.POSITIVE_INFINITY : Number(last);
  if (until < start) return undefined;
  return start < size ? { start, end: Math.min(until + 1, size) } : "unsatisfiable";
}

function lastBytes(count: number, size: number): ByteRange | "unsatisfiable" {
  const length = Math.min(count, size);
  return length === 0 ? "unsatisfiable" : { start: size - length, end: size };
}

/** What stands before and behind the hyphen of `bytes=…-…`: digits or nothing. */
function bounds(text: string): [string, string] | undefined {
  const unit = "bytes=";
  if (text.slice(0, unit.length).toLowerCase() !== unit) return undefined;
  const parts = text
    .slice(unit.length)
    .split("-", 3)
    .map((part) => part.trim());
  const [first, last] = parts;
  if (parts.length !== 2 || first === undefined || last === undefined) return undefined;
  return /^\d*$/.test(first) && /^\d*$/.test(last) ? [first, last] : undefined;
}

/** An attachment's name, for every client: in ASCII, and in UTF-8 where that is more (RFC 6266). */
export function dispositionOf(fileName: string): string {
  const ascii = fileName.replace(/[^\x20-\x7e]|["\\/%]/g, "_");
  const encoded = encodeURIComponent(fileName).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
