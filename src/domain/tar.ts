/**
 * Plain POSIX ustar archives (IEEE Std 1003.1, pax, “ustar Interchange Format”), which every tar reads: files alone, with
 * names of at most 100 ASCII characters and at most 8 GB each.
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

/** Where a field stands in a header, and how long it is. */
const fields = {
  name: [0, 100],
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
  const block = Buffer.alloc(tarBlockBytes);
  const put = (field: Field, text: string) => block.write(text, fields[field][0], "latin1");
  const number = (value: number, digits: number) => value.toString(8).padStart(digits, "0");
  put("name", name);
  put("mode", number(0o600, 7));
  put("uid", number(0, 7));
  put("gid", number(0, 7));
  put("size", number(size, 11));
  put("mtime", number(Math.max(0, Math.floor(modifiedAt / 1000)), 11));
  put("type", "0");
  put("magic", magic);
  put("checksum", `${number(checksumOf(block), 6)}\0 `);
  return block;
}

/** How many bytes fill a file's last block up. */
export function tarPaddingBytes(size: number): number {
  return (tarBlockBytes - (size % tarBlockBytes)) % tarBlockBytes;
}

/** @throws Error that says why it is no header of a plain file */
export function readTarHeader(block: Buffer): TarFile {
  if (bytesOf(block, "magic").toString("latin1") !== magic)
    throw new Error("it is no tar archive of Platen’s");
  if (numberIn(block, "checksum") !== checksumOf(block)) throw new Error("a header of it is damaged");
  const [name, type] = [textIn(block, "name"), textIn(block, "type")];
  if (type !== "0")
    throw new Error(`“${printable(name)}” is no plain file (type ${printable(type) || "none"})`);
  if (textIn(block, "prefix") !== "" || textIn(block, "link") !== "")
    throw new Error(`“${printable(name)}” has a prefix or a link, which no backup has`);
  return { name, size: numberIn(block, "size") };
}

/** A text from an archive, so that it can be shown. */
export function printable(text: string): string {
  return text.replace(/[^ -~]/g, "?");
}

function bytesOf(block: Buffer, field: Field): Buffer {
  const [start, length] = fields[field];
  return block.subarray(start, start + length);
}

/** Up to the first zero byte. */
function textIn(block: Buffer, field: Field): string {
  const [text = ""] = bytesOf(block, field).toString("latin1").split("\0", 1);
  return text;
}

/** @throws Error where there is no octal number */
function numberIn(block: Buffer, field: Field): number {
  const text = textIn(block, field).trim();
  if (!/^[0-7]{1,11}$/.test(text)) throw new Error("a header of it has no number where there must be one");
  return Number.parseInt(text, 8);
}

/** The sum of all bytes, with spaces in place of the sum itself. */
function checksumOf(block: Buffer): number {
  const copy = Buffer.from(block);
  bytesOf(copy, "checksum").fill(" ");
  return copy.reduce((sum, byte) => sum + byte, 0);
}
