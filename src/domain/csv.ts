import { UserError } from "./errors.ts";

// Comma-separated values as RFC 4180 describes them, with any separator and any line break.

/** Of one cell, in UTF-16 code units: what Excel holds. */
const mostCharacters = 32_767;
const mostColumns = 256;

const quote = '"';

interface Cell {
  readonly value: string;
  /** Where the text goes on behind it: at a separator, a line break or the end. */
  readonly end: number;
}

/**
 * Reads the first rows, at most `limit`; a line without anything is a row of one empty cell. What follows a closing quote
 * in its cell is taken as it stands.
 * @throws UserError "invalid" where a quote is never closed, and for more than a sheet can hold
 */
export function readCsv(text: string, separator: string, limit = Number.POSITIVE_INFINITY): string[][] {
  const rows: string[][] = [];
  for (let at = 0; at < text.length && rows.length < limit; ) {
    const cells: string[] = [];
    at = readRow({ text, separator, row: rows.length + 1 }, at, cells);
    rows.push(cells);
  }
  return rows;
}

/** Where a cell is read. */
interface Source {
  readonly text: string;
  readonly separator: string;
  /** Counted from 1. */
  readonly row: number;
}

/** @returns where the next row begins */
function readRow(source: Source, start: number, cells: string[]): number {
  const { text, separator, row } = source;
  for (let at = start; ; ) {
    if (cells.length === mostColumns) throw refused(row, `has more than ${mostColumns} columns`);
    const { value, end } = text[at] === quote ? quoted(source, at) : plain(source, at);
    if (value.length > mostCharacters) throw tooLong(row);
    cells.push(value);
    if (text[end] !== separator) return end + lineBreakAt(text, end);
    at = end + 1;
  }
}

/** One row with its line break. */
export function csvRow(cells: readonly string[], separator: string): string {
  return `${cells.map(csvCell).join(separator)}\r\n`;
}

const special = /[",;\t\r\n]|^ | $/;

function csvCell(value: string): string {
  return special.test(value) ? `"${value.replaceAll(quote, '""')}"` : value;
}

/** Looks no further than a cell may reach. */
function plain({ text, separator }: Source, start: number): Cell {
  const limit = Math.min(text.length, start + mostCharacters + 1);
  let end = start;
  while (end < limit && !isEnd(text[end], separator)) end++;
  return { value: text.slice(start, end), end };
}

function quoted(source: Source, start: number): Cell {
  const { text, row } = source;
  let value = "";
  for (let at = start + 1; ; ) {
    const end = text.indexOf(quote, at);
    if (end < 0) throw refused(row, "has a quote that is never closed");
    value += text.slice(at, end);
    if (value.length > mostCharacters) throw tooLong(row);
    if (text[end + 1] !== quote) {
      const rest = plain(source, end + 1);
      return { value: value + rest.value, end: rest.end };
    }
    value += quote;
    at = end + 2;
  }
}

function isEnd(character: string | undefined, separator: string): boolean {
  return character === separator || character === "\n" || character === "\r";
}

function lineBreakAt(text: string, at: number): number {
  if (at >= text.length) return 0;
  return text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1;
}

function tooLong(row: number): UserError {
  return refused(row, `has a cell of more than ${mostCharacters} characters: a quote may be missing`);
}

function refused(row: number, what: string): UserError {
  return new UserError(
    "invalid",
    `Row ${row} of this file ${what}. Mend it there and choose the file again.`,
  );
}
