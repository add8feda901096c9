/**
 * POSIX ustar archives (IEEE Std 1003.1, pax, “ustar Interchange Format”), which every tar program reads. They contain only
 * files, of at most 8 GB each, with names of at most 100 ASCII characters.
 */

export const tarBlockBytes = 512;
/** An archive ends with two empty blocks. */
export const tarEnd = Buffer.alloc(2 * tarBlockBytes);

/** A file as its header describes it. */
export interface TarFile {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
}

const magic = "ustar\x0000";
const checksumAt = 148;
const checksumBytes = 8;

/** @param modifiedAt UTC, milliseconds since 1970 */
export function tarHeader({ name, size }: TarFile, modifiedAt: number): Buffer {
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  const [mode, owner, group] = [0o600, 0, 0].map((value) => octal(value, 7));
  const time = octal(Math.max(0, Math.floor(modifiedAt / 1000)), 11);
  const link = "\0".repeat(100);
  const checksum = " ".repeat(checksumBytes);
  const block = Buffer.alloc(tarBlockBytes);
  block.write(
    `${name.padEnd(100, "\0")}${mode}${owner}${group}${octal(size, 11)}${time}${checksum}0${link}${magic}`,
    "latin1",
  );
  block.write(`${octal(checksumOf(block), 6)} `, checksumAt);
  return block;
}

/** The number of bytes to add after a file, so that its last block is full. */
export function tarPaddingBytes(size: number): number {
  return (tarBlockBytes - (size % tarBlockBytes)) % tarBlockBytes;
}

/** @throws Error with the reason if the block is no header of a plain file */
export function readTarHeader(block: Buffer): TarFile {
  const text = (start: number, end: number) => block.toString("latin1", start, end);
  const octal = (start: number, end: number) => {
    const [digits = ""] = /^ *[0-7]{1,11}(?=[ \0]*$)/.exec(text(start, end)) ?? [];
    if (digits === "") throw new Error("a header of it has no number where there must be one");
    return Number.parseInt(digits, 8);
  };
  if (text(257, 265) !== magic) throw new Error("it is no tar archive of Platen’s");
  if (octal(checksumAt, checksumAt + checksumBytes) !== checksumOf(block))
    throw new Error("a header of it is damaged");
  const [name = ""] = text(0, 100).split("\0", 1);
  if (text(156, 157) !== "0") throw new Error(`“${printable(name)}” is no plain file`);
  return { name, size: octal(124, 136) };
}

/** Replaces control and non-ASCII characters in a text from an archive, for error messages. */
export function printable(text: string): string {
  return text.replace(/[^ -~]/g, "?");
}

/** The sum of all bytes, with spaces in the checksum field. */
function checksumOf(block: Buffer): number {
  const copy = Buffer.from(block).fill(" ", checksumAt, checksumAt + checksumBytes);
  return copy.reduce((sum, byte) => sum + byte, 0);
}
