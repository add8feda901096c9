import { crc32 } from "node:zlib";
import type { UserError } from "../../domain/errors.ts";
import { unseenIn, withUnseenShown } from "../../domain/look.ts";
import { extraFields } from "./archive-extra.ts";
import { ambiguous, refuse, rezip } from "./archive-refusal.ts";
import { generalPurposeBits } from "./record-fields.ts";

const cp437High =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

/** Decodes a ZIP file name that is not marked as UTF-8, after IBM code page 437. */
function decodeCp437(bytes: Buffer): string {
  const text = bytes.toString("latin1");
  return text.replace(/[\u0080-\u00ff]/g, (high) => cp437High[high.charCodeAt(0) - 0x80] ?? "");
}

/** What one header says of a file's name. */
export interface NameField {
  readonly bytes: Buffer;
  readonly flags: number;
  readonly extra: Buffer;
}

/** What programs may call a file, with `/`. */
interface Names {
  readonly plain: string;
  /** What the Unicode path field (0x7075, APPNOTE 4.6.9) says, where there is one. */
  readonly unicode: string | undefined;
}

const { languageEncoding: flagUtf8 } = generalPurposeBits;
export const maxPathLength = 240;
/** No more bytes make so many characters, in UTF-8 or in any code page. */
const maxNameBytes = 3 * maxPathLength;

/**
 * The name that a file of the archive gets.
 * @throws UserError "invalid" for a name that does harm or that Windows cannot create
 */
export function readPath(field: NameField): string {
  const { plain, unicode } = readNames(field);
  const path = unicode ?? plain;
  const flaw = flawOf(path);
  if (flaw !== undefined) throw badName(path, flaw);
  if (unicode === undefined || unicode === plain) return path;
  if (field.flags & flagUtf8 || plain.endsWith("/") !== unicode.endsWith("/")) {
    throw ambiguous(`“${unicode}” is also called “${shown(plain)}”`);
  }
  return path;
}

/**
 * Every name that some program may give the file: none would leave the folder it is unpacked into, or be
 * a device's.
 * @throws UserError "invalid" with a sentence that shows the name
 */
export function readNames({ bytes, flags, extra }: NameField): Names {
  if (bytes.length > maxNameBytes) throw badName(decodeCp437(bytes.subarray(0, 100)), tooLong);
  const plain = withSlashes(flags & flagUtf8 ? decodeUtf8(bytes) : decodeCp437(bytes));
  const unicode = unicodeName(bytes, extra);
  for (const name of unicode === undefined ? [plain] : [unicode, plain]) {
    const harm = harmOf(name);
    if (harm !== undefined) throw badName(name, harm);
  }
  return { plain, unicode };
}

/** What the Unicode path field says, unless it is of another version or was made for another name. */
function unicodeName(bytes: Buffer, extra: Buffer): string | undefined {
  const crc = crc32(bytes);
  const fields = extraFields(extra, 0x7075).filter(
    (field) => field.length > 5 && field[0] === 1 && field.readUInt32LE(1) === crc,
  );
  if (fields.length > 1) throw ambiguous("a file in it has two Unicode names");
  return fields[0] && withSlashes(decodeUtf8(fields[0].subarray(5)));
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

/** What Windows takes for a device whatever follows the first dot, blanks before it dropped. */
const deviceName = /(?:^|\/)(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:[./]|$)/i;

function badName(path: string, problem: string): UserError {
  return refuse(`This ZIP is refused: the name “${shown(path)}” ${problem}.`);
}

function shown(path: string): string {
  return withUnseenShown(path.length > 80 ? `${path.slice(0, 80)}…` : path);
}

const tooLong = `is longer than ${maxPathLength} characters`;

/** What no name may have, not even one beside the name that counts. */
function harmOf(path: string): string | undefined {
  if (path === "" || path === "/") return "is empty";
  if (/^[a-z]:/i.test(path)) return "starts with a drive letter";
  if (path.startsWith("/")) return "is absolute";
  if (/[\u0000-\u001f\u007f]/.test(path)) return "contains a control character";
  if (/[<>:"|*]/.test(path)) return "contains a character that Windows does not allow";
  if (leadsOut(path)) return "leads out of its folder";
  if (deviceName.test(path)) return "is the name of a Windows device";
  return undefined;
}

/** Blanks and dots at the end of a folder's name are dropped by Windows. */
function leadsOut(path: string): boolean {
  const isDotsAndBlanks = /^[. ]+$/;
  if (!/(?:^|\/)[. ]+(?:\/|$)/.test(path)) return false;
  return path.split("/").some((part) => part.includes("..") && isDotsAndBlanks.test(part));
}

/**
 * What Windows cannot create. A name beside the one that counts may have it: writers put `?` for every letter
 * that their code page lacks, and its letters take more bytes.
 */
function flawOf(path: string): string | undefined {
  if (path.length > maxPathLength) return tooLong;
  if (path.includes("?")) return "contains a character that Windows does not allow";
  const unseen = unseenIn(path);
  if (unseen !== undefined) return `contains a character that nobody sees (${unseen})`;
  const name = path.endsWith("/") ? path.slice(0, -1) : path;
  if (/(?:^|\/)\.?(?:\/|$)/.test(name)) return "contains an empty folder name";
  if (/[. ](?:\/|$)/.test(name)) return "ends with a dot or a blank, which Windows drops";
  return undefined;
}
