import type { IncomingHttpHeaders } from "node:http";

/** Whether the client has these bytes already (RFC 9110, 13.1.2). @param etag with its quotes */
export function isNotModified(headers: IncomingHttpHeaders, etag: string): boolean {
  const known = headers["if-none-match"]?.trim();
  if (known === undefined) return false;
  return known === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
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
  const range = headers.range?.replaceAll(" ", "") ?? "";
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/i.exec(range) ?? [];
  if (first === "" && last === "") return undefined;
  // Without a beginning, so many of the last bytes are asked for.
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size : Math.min(Number(last) + 1, size);
  if (first !== "" && last !== "" && Number(last) < start) return undefined;
  return start < size ? { start, end } : "unsatisfiable";
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
