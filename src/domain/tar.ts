/**
 * Plain POSIX ustar archives (IEEE Std 1003.1, pax, “ustar Interchange Format”), which every tar reads: files alone, with
 * names of at most 100 ASCII characters and at most 8 GB each. No backup of ours needs more; what has more is none.
 */

export const tarBlockBytes = 512;
/** An archive ends with two empty blocks, filled up to so many bytes. */
const recordBytes = 20 * tarBlockBytes;
/** Eleven octal digits. */
const largestFile = 0o77777777777;
const longestName = 100;

/** A file as its header describes it. */
export interface TarFile {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
}

/** Where a field stands in a header, and how long it is. */
const fields = {
  name: [0, longestName],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  link: [157, 100],
  magic: [257, 8],
  prefix: [345, 155],
} as const;
type Field = keyof typeof fields;

const magic = "ustar\x0000";

/** @param modifiedAt UTC, milliseconds since 1970 */
export function tarHeader({ name, size }: TarFile, modifiedAt: number): Buffer {
  if (name.length > longestName || size > largestFile)
    throw new Error(`${name} of ${size} bytes is more than a backup holds`);
  const block = Buffer.alloc(tarBlockBytes);
  const put = (field: Field, text: string) => block.write(text, fields[field][0], "latin1");
  put("name", name);
  put("mode", octal(0o600, 7));
  put("uid", octal(0, 7));
  put("gid", octal(0, 7));
  put("size", octal(size, 11));
  put("mtime", octal(Math.max(0, Math.floor(modifiedAt / 1000)), 11));
  put("type", "0");
  put("magic", magic);
  put("checksum", `${octal(checksumOf(block), 6)}\0 `);
  return block;
}

/** What fills a file's last block up. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((tarBlockBytes - (size % tarBlockBytes)) % tarBlockBytes);
}

/** What an archive of so many bytes ends with. */
export function tarEnd(written: number): Buffer {
  const least = 2 * tarBlockBytes;
  return Buffer.alloc(least + ((recordBytes - ((written + least) % recordBytes)) % recordBytes));
}

export function isEmptyBlock(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

/** @throws Error that says why it is no header of a plain file */
export function readTarHeader(block: Buffer): TarFile {
  const text = (field: Field) => textIn(block, field);
  if (block.toString("latin1", ...span("magic")) !== magic)
    throw new Error("it is no tar archive of Platen’s");
  if (number(block, "checksum") !== checksumOf(block)) throw new Error("a header of it is damaged");
  const name = text("name");
  const type = text("type");
  if (type !== "0")
    throw new Error(`“${printable(name)}” is no plain file (type ${printable(type) || "none"})`);
  if (text("prefix") !== "" || text("link") !== "")
    throw new Error(`“${printable(name)}” has a prefix or a link, which no backup has`);
  return { name, size: number(block, "size") };
}

/** A text from an archive, so that it can be shown. */
export function printable(text: string): string {
  return text.replace(/[^ -~]/g, "?");
}

function span(field: Field): [number, number] {
  const [start, length] = fields[field];
  return [start, start + length];
}

/** Up to the first zero byte. */
function textIn(block: Buffer, field: Field): string {
  const [text = ""] = block.toString("latin1", ...span(field)).split("\0", 1);
  return text;
}

/** @throws Error where there is no octal number */
function number(block: Buffer, field: Field): number {
  const text = textIn(block, field).trim();
  if (!/^[0-7]{1,11}$/.test(text)) throw new Error("a header of it has no number where there must be one");
  return Number.parseInt(text, 8);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

/** The sum of all bytes, with spaces in place of the sum itself. */
function checksumOf(block: Buffer): number {
  const [start, end] = span("checksum");
  let sum = 0;
  for (const [i, byte] of block.entries()) sum += i >= start && i < end ? 32 : byte;
  return sum;
}
