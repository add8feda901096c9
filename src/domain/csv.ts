import { UserError } from "./errors.ts";

// Comma-separated values (RFC 4180), with any separator and any line break.

/** In UTF-16 code units: Excel's limit for one cell. */
const maxCharacters = 32_767;
const maxColumns = 256;

const quote = '"';

/**
 * Reads at most `limit` rows. An empty line is a row with one empty cell. Text after a closing quote belongs to the cell.
 * @throws UserError "invalid" for a quote that is never closed, a cell that is too long, or too many columns
 */
export function readCsv(text: string, separator: string, limit = Number.POSITIVE_INFINITY): string[][] {
  const rows: string[][] = [];
  const ends = new Set([separator, "\n", "\r"]);
  let at = 0;
  const rowError = (what: string) => {
    const message = `Row ${rows.length + 1} of this file ${what}. Correct that row and import the list again.`;
    return new UserError("invalid", message);
  };
  const skip = (what: string): boolean => {
    const isNext = text.startsWith(what, at);
    if (isNext) at += what.length;
    return isNext;
  };
  /** Returns `before` and the text up to `end`. Reading continues at `next`. */
  const cell = (before: string, end: number, next: number): string => {
    const value = before + text.slice(at, end);
    if (value.length > maxCharacters)
      throw rowError(`has a cell of more than ${maxCharacters} characters: a quote may be missing`);
    at = next;
    return value;
  };
  /** Reads an unquoted cell, or the text after a closing quote. It stops searching at the maximum length. */
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
      if (end < 0) throw rowError("has a quote that is never closed");
      value = cell(value, end, end + 1);
      if (!skip(quote)) return plain(value);
    }
  };
  while (at < text.length && rows.length < limit) {
    const cells: string[] = [];
    do {
      if (cells.length === maxColumns) throw rowError(`has more than ${maxColumns} columns`);
      cells.push(text[at] === quote ? quoted() : plain());
    } while (skip(separator));
    ["\r\n", "\n", "\r"].some(skip);
    rows.push(cells);
  }
  return rows;
}

/** One row, with a line break at the end. */
export function csvRow(cells: readonly string[], separator: string): string {
  return `${cells.map(csvCell).join(separator)}\r\n`;
}

const special = /[",;\t\r\n]|^ | $/;

function csvCell(value: string): string {
  return special.test(value) ? `"${value.replaceAll(quote, '""')}"` : value;
}

/**
 * Puts an apostrophe before everything that a spreadsheet might read as a formula. Formulas begin with one of the signs
 * below; some spreadsheets also accept the full-width ones. Places after a comma, semicolon or line break count too,
 * because a spreadsheet that uses another separator starts a new cell there.
 */
export function neutralizeCell(text: string): string {
  return text.replace(/(?:^|(?<=[,;\n]))(?=[ "']*[=+\-@\t\r＝＋－＠])/g, "'");
}

/** Removes the apostrophes that `neutralizeCell` added, and no others. */
export function restoreCell(text: string): string {
  return text.replace(/(?:^|(?<=[,;\n]))'(?=[ "']*[=+\-@\t\r＝＋－＠])/g, "");
}
