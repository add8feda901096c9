import { createHash } from "node:crypto";

/** Where SQLite counts the changes of a file, and where it says up to which of them its header holds. */
const changeCounterAt = 24;
const validForAt = 92;
/** SQLite's pages have a multiple of so many bytes, so what is left at the end of a file is its seal. */
const leastPageBytes = 512;

/**
 * A line behind the pages of a saved database: the SHA-256 of the pages, and the change that they were saved with. SQLite
 * reads as many pages as the header names and ignores what follows, so every other program opens the file.
 */
const sealPattern = /^\nPlaten: change (\d{10}), SHA-256 ([0-9a-f]{64})\n$/;

/** The bytes of a database's file: the pages and their seal. */
export function sealed(pages: Uint8Array): Uint8Array {
  const change = String(counterIn(pages, changeCounterAt)).padStart(10, "0");
  const seal = Buffer.from(`\nPlaten: change ${change}, SHA-256 ${digestOf(pages)}\n`);
  const file = new Uint8Array(pages.length + seal.length);
  file.set(pages);
  file.set(seal, pages.length);
  return file;
}

/** The pages of a file. Never a Buffer, because sql.js copies by `slice`, which does not copy a Buffer. */
export function pagesOf(file: Uint8Array): Uint8Array {
  return new Uint8Array(file.buffer, file.byteOffset, file.length - (file.length % leastPageBytes));
}

/**
 * Compares the pages with their seal. A file without a seal was written by an earlier version or by another program. Where
 * another program has changed a sealed file, SQLite raised both counters, and the seal says nothing any more.
 * @throws Error where the pages are not what was saved
 */
export function checkSeal(file: Uint8Array): void {
  const pages = pagesOf(file);
  if (pages.length === file.length) return;
  const seal = Buffer.from(file.subarray(pages.length)).toString("latin1");
  const [, change, digest] = sealPattern.exec(seal) ?? [];
  if (digest === undefined) throw new Error("its last line is damaged, or a copy of it broke off");
  const counter = counterIn(pages, changeCounterAt);
  if (counter !== Number(change) && counter === counterIn(pages, validForAt)) return;
  if (digestOf(pages) !== digest) throw new Error("its SHA-256 is not the one that it was saved with");
}

function counterIn(pages: Uint8Array, at: number): number {
  return new DataView(pages.buffer, pages.byteOffset, pages.length).getUint32(at);
}

function digestOf(pages: Uint8Array): string {
  return createHash("sha256").update(pages).digest("hex");
}
