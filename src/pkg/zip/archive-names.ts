import { crc32 } from "node:zlib";
import type { UserError } from "../../domain/errors.ts";
import { escapeInvisible, firstInvisible } from "../../domain/text.ts";
import { generalPurposeBits, refuse, rezip } from "./record-fields.ts";

const { languageEncoding } = generalPurposeBits;

const cp437High =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

/** Decodes a ZIP file name that is not flagged as UTF-8, in IBM code page 437. */
function decodeCp437(bytes: Buffer): string {
  const text = bytes.toString("latin1");
  return text.replace(/[\u0080-\u00ff]/g, (high) => cp437High[high.charCodeAt(0) - 0x80] ?? "");
}

export const maxPathLength = 240;
/** `maxPathLength` UTF-16 code units need at most this many bytes, in UTF-8 or in any code page. */
const maxNameBytes = 3 * maxPathLength;

/**
 * Reads the name of a file: its Unicode path field if it has one, otherwise the bytes of its name.
 * @param flags general purpose bits of the record
 * @param extra its extra fields
 * @throws UserError "invalid" for a name that could do harm or that Windows cannot create
 */
export function readPath(bytes: Buffer, flags: number, extra: Buffer): string {
  if (bytes.length > maxNameBytes) throw badName(decodeCp437(bytes.subarray(0, 100)), tooLong);
  const plain = () => (flags & languageEncoding ? decodeUtf8(bytes) : decodeCp437(bytes));
  const path = withSlashes(unicodeName(bytes, extra) ?? plain());
  const flaw = flawOf(path);
  if (flaw !== undefined) throw badName(path, flaw);
  return path;
}

/** The Unicode path field (0x7075, APPNOTE 4.6.9), unless its version is not 1 or its CRC belongs to another name. */
function unicodeName(bytes: Buffer, extra: Buffer): string | undefined {
  const crc = crc32(bytes);
  const field = extraFields(extra, 0x7075).find(
    (field) => field.length > 5 && field[0] === 1 && field.readUInt32LE(1) === crc,
  );
  return field && decodeUtf8(field.subarray(5));
}

/** All extra fields with this id. A field that extends beyond the end is left out, as in .NET and Info-ZIP. */
export function extraFields(extra: Buffer, id: number): Buffer[] {
  const fields: Buffer[] = [];
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === id && end <= extra.length) fields.push(extra.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

/** Old writers on Windows use `\` between folders. */
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
  return refuse(`Platen refuses this ZIP. The path “${visible(path)}” ${problem}.`);
}

function visible(path: string): string {
  return escapeInvisible(path.length > 80 ? `${path.slice(0, 80)}…` : path);
}

const tooLong = `is longer than ${maxPathLength} characters`;

/** Names that Windows takes for devices, even with blanks or an extension after them. */
const deviceName = /(?:^|\/)(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:[./]|$)/i;

/** Names that do harm when unpacked or that Windows cannot create. The first match is the reason in the refusal. */
const flaws: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^$/, "is empty"],
  [/^[a-z]:/i, "starts with a drive letter"],
  [/^\//, "is absolute"],
  [/[\u0000-\u001f\u007f]/, "contains a control character"],
  [/[<>:"|*?]/, "contains a character that Windows does not allow"],
  [deviceName, "is the name of a Windows device"],
  [/(?:^|\/)\.?(?:\/|$)/, "contains an empty folder name"],
  [/[. ](?:\/|$)/, "ends with a dot or space, which Windows removes"],
];

function flawOf(path: string): string | undefined {
  if (path.length > maxPathLength) return tooLong;
  if (leadsOut(path)) return "points outside the ZIP";
  const name = path.replace(/\/$/, "");
  const flaw = flaws.find(([pattern]) => pattern.test(name));
  if (flaw !== undefined) return flaw[1];
  const unseen = firstInvisible(path);
  return unseen && `contains an invisible character (${unseen})`;
}

/** Whether a folder's name may mean `..`: Windows drops blanks and dots at the end of names. */
function leadsOut(path: string): boolean {
  const isDotsAndBlanks = /^[. ]+$/;
  if (!/(?:^|\/)[. ]+(?:\/|$)/.test(path)) return false;
  return path.split("/").some((part) => part.includes("..") && isDotsAndBlanks.test(part));
}
