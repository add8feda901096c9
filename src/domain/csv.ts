import { UserError } from "./errors.ts";

// Comma-separated values as RFC 4180 describes them, with any separator and any line break.

/** Of one cell, in UTF-16 code units: what Excel holds. */
const maxCharacters = 32_767;
const maxColumns = 256;

const quote = '"';

/**
 * Reads the first rows, at most `limit`; a line without anything is a row of one empty cell. What follows a closing quote
 * in its cell is taken as it stands.
 * @throws UserError "invalid" where a quote is never closed, and for more than a sheet can hold
 */
export function readCsv(text: string, separator: string, limit = Number.POSITIVE_INFINITY): string[][] {
  const rows: string[][] = [];
  const ends = new Set([separator, "\n", "\r"]);
  let at = 0;
  const refused = (what: string) => {
    const message = `Row ${rows.length + 1} of this file ${what}. Mend it there and choose the file again.`;
    return new UserError("invalid", message);
  };
  const skip = (what: string): boolean => {
    const isThere = text.startsWith(what, at);
    if (isThere) at += what.length;
    return isThere;
  };
  /** A cell with what goes on until `end`; the next thing to read is at `next`. */
  const cell = (before: string, end: number, next: number): string => {
    const value = before + text.slice(at, end);
    if (value.length > maxCharacters)
      throw refused(`has a cell of more than ${maxCharacters} characters: a quote may be missing`);
    at = next;
    return value;
  };
  /** Looks no further than a cell may reach. */
  const plain = (before = ""): string => {
    const max = Math.min(text.length, at + maxCharacters + 1);
    let end = at;
    while (end < max && !ends.has(text.charAt(end))) end++;
    return cell(before, end, end);
  };
  const quoted = (): string => {
    at++;
    for (let value = ""; ; value += quote) {
      const end = text.indexOf(quote, at);
      if (end < 0) throw refused("has a quote that is never closed");
      value = cell(value, end, end + 1);
      if (!skip(quote)) return plain(value);
    }
  };
  while (at < text.length && rows.length < limit) {
    const cells: string[] = [];
    do {
      if (cells.length === maxColumns) throw refused(`has more than ${maxColumns} columns`);
      cells.push(text[at] === quote ? quoted() : plain());
    } while (skip(separator));
    ["\r\n", "\n", "\r"].some(skip);
    rows.push(cells);
  }
  return rows;
}

/** One row with its line break. */
export function csvRow(cells: readonly string[], separator: string): string {
  return `${cells.map(csvCell).join(separator)}\r\n`;
}

const special = /[",;\t\r\n]|^ | $/;

function csvCell(value: string): string {
  return special.test(value) ? `"${value.replaceAll(quote, '""')}"` : value;
}

const sign = /[=+\-@\t\r＝＋－＠]/;

/**
 * A spreadsheet computes what begins with one of these signs, some also where the sign is of full width, and behind a
 * separator or a line break where it takes another separator than ours. An apostrophe before it makes it a text.
 */
export function neutral(text: string): string {
  if (!sign.test(text)) return text;
  return text.replace(/(?:^|(?<=[,;\n]))(?=[ "']*[=+\-@\t\r＝＋－＠])/g, "'");
}

/** The text that `neutral` was given; an apostrophe that has nothing to hide stays. */
export function restored(text: string): string {
  return text.replace(/(?:^|(?<=[,;\n]))'(?=[ "']*[=+\-@\t\r＝＋－＠])/g, "");
}
