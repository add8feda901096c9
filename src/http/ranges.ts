import type { IncomingHttpHeaders } from "node:http";

/** What names the state of a download. */
export interface Validators {
  /** With its quotes. */
  readonly etag: string;
  /** UTC, milliseconds since 1970. */
  readonly modifiedAt: number | undefined;
}

/** Whether the client has these bytes already (RFC 9110, 13.1.2 and 13.1.3). */
export function isNotModified(headers: IncomingHttpHeaders, { etag, modifiedAt }: Validators): boolean {
  const known = headers["if-none-match"];
  if (known !== undefined) {
    return known.trim() === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
  }
  const since = Date.parse(headers["if-modified-since"] ?? "");
  return modifiedAt !== undefined && !Number.isNaN(since) && wholeSeconds(modifiedAt) <= since;
}

/**
 * The one range that is asked for; undefined when the whole is to be sent: no range, several, one in
 * another unit, or one of bytes that have changed meanwhile (RFC 9110, 14.2 and 13.1.5).
 */
export function requestedRange(
  headers: IncomingHttpHeaders,
  size: number,
  validators: Validators,
): { readonly start: number; readonly end: number } | "unsatisfiable" | undefined {
  const match = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(headers.range ?? "");
  if (match === null || !ifRangeHolds(headers["if-range"], validators)) return undefined;
  const [, first = "", last = ""] = match;
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return undefined;
  if (start >= size) return "unsatisfiable";
  return { start, end: last === "" ? size : Math.min(Number(last) + 1, size) };
}

function ifRangeHolds(condition: string | string[] | undefined, { etag, modifiedAt }: Validators): boolean {
  if (condition === undefined) return true;
  const text = String(condition).trim();
  if (text.startsWith('"') || text.startsWith("W/")) return text === etag;
  return modifiedAt !== undefined && Date.parse(text) === wholeSeconds(modifiedAt);
}

function wholeSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000) * 1000;
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
