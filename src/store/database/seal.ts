import { createHash } from "node:crypto";

/** Offsets in the header: SQLite's file change counter, and “version-valid-for”, the counter for which the header is valid. */
const changeCounterOffset = 24;
const validForOffset = 92;
/** The size of a SQLite page is a multiple of 512 bytes, so the remainder at the end of a file is its seal. */
const minPageBytes = 512;

/**
 * A line after the pages of a saved database: the change counter at the time of the save, and the SHA-256 of the pages.
 * SQLite ignores what follows the pages that the header counts, so every other program opens the file.
 */
const sealPattern = /^\nPlaten: change (\d{10}), SHA-256 ([0-9a-f]{64})\n$/;

/** The bytes of a database's file: the pages and their seal. */
export function sealed(pages: Uint8Array): Uint8Array {
  const change = String(counterIn(pages, changeCounterOffset)).padStart(10, "0");
  const seal = Buffer.from(`\nPlaten: change ${change}, SHA-256 ${digestOf(pages)}\n`);
  const file = new Uint8Array(pages.length + seal.length);
  file.set(pages);
  file.set(seal, pages.length);
  return file;
}

/** The pages of a file. Not a Buffer, because sql.js copies with `slice`, which does not copy a Buffer. */
export function pagesOf(file: Uint8Array): Uint8Array {
  return new Uint8Array(file.buffer, file.byteOffset, file.length - (file.length % minPageBytes));
}

/**
 * Compares the pages with their seal. A file without a seal was written by an earlier version or by another program. When
 * another program changed a sealed file, SQLite raised both counters, and the seal is ignored.
 * @throws Error when the pages differ from what was saved
 */
export function checkSeal(file: Uint8Array): void {
  const pages = pagesOf(file);
  if (pages.length === file.length) return;
  const seal = Buffer.from(file.subarray(pages.length)).toString("latin1");
  const [, change, digest] = sealPattern.exec(seal) ?? [];
  if (digest === undefined) throw new Error("its last line is damaged, or a copy of it broke off");
  const counter = counterIn(pages, changeCounterOffset);
  if (counter !== Number(change) && counter === counterIn(pages, validForOffset)) return;
  if (digestOf(pages) !== digest) throw new Error("its SHA-256 is not the one that it was saved with");
}

function counterIn(pages: Uint8Array, at: number): number {
  return new DataView(pages.buffer, pages.byteOffset, pages.length).getUint32(at);
}

function digestOf(pages: Uint8Array): string {
  return createHash("sha256").update(pages).digest("hex");
}
