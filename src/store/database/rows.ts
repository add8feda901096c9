import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { SqlValue } from "sql.js";
import { messageOf } from "../../domain/errors.ts";

export type Row = Record<string, SqlValue>;

/** What asks a database, without being it. */
export interface Queries {
  /** Runs one statement; its rows as objects by column name. */
  all(statement: string, parameters?: readonly SqlValue[]): Row[];
  /** The first of these rows. */
  first(statement: string, parameters?: readonly SqlValue[]): Row | undefined;
}

/** @throws Error that names the row, `what`, when reading it throws */
export function readable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${what} cannot be read: ${messageOf(error)}`);
  }
}

/** A digest makes the name of a file, so nothing else may pass for one. @throws Error when it is none */
export function digestIn({ sha256 }: Row): string {
  const text = String(sha256);
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new Error("its digest is no SHA-256");
}

/** What a column refers to. */
export function idOrNull(value: Row[string] | undefined): number | null {
  return typeof value === "number" ? value : null;
}

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
