import { crc32 } from "node:zlib";
import type { UserError } from "../../domain/errors.ts";
import { unseenIn, withUnseenShown } from "../../domain/text.ts";
import { generalPurposeBits, refuse, rezip } from "./record-fields.ts";

const { languageEncoding } = generalPurposeBits;

const cp437High =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

/** Decodes a ZIP file name that is not marked as UTF-8, after IBM code page 437. */
function decodeCp437(bytes: Buffer): string {
  const text = bytes.toString("latin1");
  return text.replace(/[\u0080-\u00ff]/g, (high) => cp437High[high.charCodeAt(0) - 0x80] ?? "");
}

export const maxPathLength = 240;
/** No more bytes make so many characters, in UTF-8 or in any code page. */
const maxNameBytes = 3 * maxPathLength;

/**
 * The name that a file of the archive gets: what its Unicode path field says, where it has one, else its name's bytes.
 * @param flags general purpose bits of the record
 * @param extra its extra fields
 * @throws UserError "invalid" for a name that does harm or that Windows cannot create
 */
export function readPath(bytes: Buffer, flags: number, extra: Buffer): string {
  if (bytes.length > maxNameBytes) throw badName(decodeCp437(bytes.subarray(0, 100)), tooLong);
  const plain = () => (flags & languageEncoding ? decodeUtf8(bytes) : decodeCp437(bytes));
  const path = withSlashes(unicodeName(bytes, extra) ?? plain());
  const flaw = flawOf(path);
  if (flaw !== undefined) throw badName(path, flaw);
  return path;
}

/** The Unicode path field (0x7075, APPNOTE 4.6.9), unless it is of another version or was made for another name. */
function unicodeName(bytes: Buffer, extra: Buffer): string | undefined {
  const crc = crc32(bytes);
  const field = extraFields(extra, 0x7075).find(
    (field) => field.length > 5 && field[0] === 1 && field.readUInt32LE(1) === crc,
  );
  return field && decodeUtf8(field.subarray(5));
}

/** All extra fields of one kind. One that reaches beyond the end is left out, as .NET and Info-ZIP do. */
export function extraFields(extra: Buffer, id: number): Buffer[] {
  const fields: Buffer[] = [];
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === id && end <= extra.length) fields.push(extra.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

/** Old writers on Windows put `\` between folders. */
function withSlashes(name: string): string {
  return name.replace(/\\/g, "/");
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refuse(`This ZIP is damaged: a file name is not valid UTF-8. ${rezip}`);
  }
}

function badName(path: string, problem: string): UserError {
  return refuse(`This ZIP is refused: the name “${visible(path)}” ${problem}.`);
}

function visible(path: string): string {
  return withUnseenShown(path.length > 80 ? `${path.slice(0, 80)}…` : path);
}

const tooLong = `is longer than ${maxPathLength} characters`;

/** What Windows takes for a device whatever follows the first dot, blanks before it dropped. */
const deviceName = /(?:^|\/)(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:[./]|$)/i;

/** What would do harm where the file is unpacked, and what Windows cannot create: the first that holds is said. */
const flaws: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^$/, "is empty"],
  [/^[a-z]:/i, "starts with a drive letter"],
  [/^\//, "is absolute"],
  [/[\u0000-\u001f\u007f]/, "contains a control character"],
  [/[<>:"|*?]/, "contains a character that Windows does not allow"],
  [deviceName, "is the name of a Windows device"],
  [/(?:^|\/)\.?(?:\/|$)/, "contains an empty folder name"],
  [/[. ](?:\/|$)/, "ends with a dot or a blank, which Windows drops"],
];

function flawOf(path: string): string | undefined {
  if (path.length > maxPathLength) return tooLong;
  if (leadsOut(path)) return "leads out of its folder";
  const name = path.replace(/\/$/, "");
  const flaw = flaws.find(([pattern]) => pattern.test(name));
  if (flaw !== undefined) return flaw[1];
  const unseen = unseenIn(path);
  return unseen && `contains a character that nobody sees (${unseen})`;
}

/** Blanks and dots at the end of a folder's name are dropped by Windows. */
function leadsOut(path: string): boolean {
  const isDotsAndBlanks = /^[. ]+$/;
  if (!/(?:^|\/)[. ]+(?:\/|$)/.test(path)) return false;
  return path.split("/").some((part) => part.includes("..") && isDotsAndBlanks.test(part));
}
