import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { SqlValue } from "sql.js";
import { errorMessage } from "../../domain/errors.ts";

export type Row = Record<string, SqlValue>;

/** Runs SQL on a database. */
export interface Queries {
  /** Runs one statement and returns its rows as objects by column name. */
  all(statement: string, parameters?: readonly SqlValue[]): Row[];
  first(statement: string, parameters?: readonly SqlValue[]): Row | undefined;
}

/** @throws Error that names the row, `what`, when `read` throws */
export function readRow<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${what} cannot be read: ${errorMessage(error)}`);
  }
}

/** Checked because a digest becomes a file name. @throws Error when it is no SHA-256 */
export function digestIn({ sha256 }: Row): string {
  const text = String(sha256);
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new Error("its digest is no SHA-256");
}

export function idOrNull(value: Row[string] | undefined): number | null {
  return typeof value === "number" ? value : null;
}

/** Characters. Shorter texts are stored unpacked. */
const packedFromLength = 4096;
/** The limit for an unpacked text; larger than any that Platen makes. */
const limitBytes = 16 * 1024 * 1024;

/**
 * Compresses a long text of JSON or XML for a column. Every write saves the whole database, and a ZIP of a few kilobytes can
 * contain megabytes of model names: packed, they take about as little space as in the ZIP.
 */
export function packText(text: string): string {
  if (text.length < packedFromLength) return text;
  return deflateRawSync(Buffer.from(text, "utf8"), { level: 1 }).toString("base64");
}

/** Unpacks a text unless it begins like JSON or XML. @throws Error when it is neither plain nor packed */
export function unpackText(text: string): string {
  if (text === "" || text.startsWith("{") || text.startsWith("<")) return text;
  return inflateRawSync(Buffer.from(text, "base64"), { maxOutputLength: limitBytes }).toString("utf8");
}
