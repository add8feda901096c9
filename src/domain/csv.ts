import { UserError } from "./errors.ts";

// Comma-separated values as RFC 4180 describes them, with any separator and any line break.

/** Of one cell, in UTF-16 code units: what Excel holds. */
const mostCharacters = 32_767;
const mostColumns = 256;

const quote = '"';

/**
 * Reads the first rows, at most `limit`; a line without anything is a row of one empty cell. What follows a closing quote
 * in its cell is taken as it stands.
 * @throws UserError "invalid" where a quote is never closed, and for more than a sheet can hold
 */
export function readCsv(text: string, separator: string, limit = Number.POSITIVE_INFINITY): string[][] {
  const reader = new CsvReader(text, separator);
  while (!reader.isAtEnd && reader.rows.length < limit) reader.readRow();
  return reader.rows;
}

class CsvReader {
  readonly rows: string[][] = [];
  readonly #text: string;
  readonly #separator: string;
  #at = 0;

  constructor(text: string, separator: string) {
    this.#text = text;
    this.#separator = separator;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  readRow(): void {
    const cells: string[] = [];
    do {
      if (cells.length === mostColumns) throw this.#refused(`has more than ${mostColumns} columns`);
      cells.push(this.#text[this.#at] === quote ? this.#quoted() : this.#plain());
    } while (this.#skip(this.#separator));
    if (!this.#skip("\r\n") && !this.#skip("\n")) this.#skip("\r");
    this.rows.push(cells);
  }

  /** Looks no further than a cell may reach. */
  #plain(before = ""): string {
    const limit = Math.min(this.#text.length, this.#at + mostCharacters + 1);
    let end = this.#at;
    while (end < limit && !this.#isEnd(this.#text[end])) end++;
    return this.#cell(before, end, end);
  }

  #quoted(): string {
    this.#at++;
    for (let value = ""; ; value += quote) {
      const end = this.#text.indexOf(quote, this.#at);
      if (end < 0) throw this.#refused("has a quote that is never closed");
      value = this.#cell(value, end, end + 1);
      if (!this.#skip(quote)) return this.#plain(value);
    }
  }

  /** A cell with what goes on until `end`; the next thing to read is at `next`. */
  #cell(before: string, end: number, next: number): string {
    const value = before + this.#text.slice(this.#at, end);
    if (value.length > mostCharacters)
      throw this.#refused(`has a cell of more than ${mostCharacters} characters: a quote may be missing`);
    this.#at = next;
    return value;
  }

  #isEnd(character: string | undefined): boolean {
    return character === this.#separator || character === "\n" || character === "\r";
  }

  #skip(what: string): boolean {
    const isThere = this.#text.startsWith(what, this.#at);
    if (isThere) this.#at += what.length;
    return isThere;
  }

  #refused(what: string): UserError {
    const message = `Row ${this.rows.length + 1} of this file ${what}. Mend it there and choose the file again.`;
    return new UserError("invalid", message);
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
