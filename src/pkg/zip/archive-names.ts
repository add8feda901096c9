import { crc32 } from "node:zlib";
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

/** The fields of a directory record that its name is read from. */
export interface RawName {
  readonly bytes: Buffer;
  /** General purpose bits. */
  readonly flags: number;
  /** Extra fields. */
  readonly extra: Buffer;
}

export interface EntryName {
  /**
   * With `/`, without empty segments and `.`. Dots and blanks at the end of a segment are dropped, as Windows does. A name
   * with a flaw is as the archive has it.
   */
  readonly path: string;
  /** Whether the name ends with a separator. */
  readonly isFolder: boolean;
  /** Why Windows cannot create the path, as the rest of a sentence; undefined if it can. */
  readonly flaw: string | undefined;
}

type Decode = (bytes: Buffer) => string;

/**
 * The code page of an archive's names that are not flagged as UTF-8. Japanese tools write Shift-JIS, where the second byte
 * of a character may be `|` or `\`. CP437 has no use for these bytes after a letter, so they tell the two apart.
 */
export function codePageOf(names: readonly RawName[]): Decode {
  const isJapanese = names.some(
    ({ bytes, flags }) =>
      (flags & languageEncoding) === 0 &&
      bytes.length <= maxNameBytes &&
      shiftJisSign.test(bytes.toString("latin1")),
  );
  return isJapanese ? decodeShiftJis : decodeCp437;
}

const shiftJisSign = /[\u0081-\u009f\u00e0-\u00fc](?:\||\\[\\/])/;

function decodeShiftJis(bytes: Buffer): string {
  try {
    return new TextDecoder("shift_jis", { fatal: true }).decode(bytes);
  } catch {
    return decodeCp437(bytes);
  }
}

/**
 * Reads the name of an entry: its Unicode path field if it has one, otherwise the bytes of its name.
 * @param decode for a name that is not flagged as UTF-8
 * @throws UserError "invalid" for a name that points outside the archive
 */
export function readName({ bytes, flags, extra }: RawName, decode: Decode): EntryName {
  if (bytes.length > maxNameBytes)
    return { path: decodeCp437(bytes.subarray(0, 100)), isFolder: false, flaw: tooLong };
  const text = unicodeName(bytes, extra) ?? (flags & languageEncoding ? utf8.decode(bytes) : decode(bytes));
  // Old writers on Windows use `\` between folders.
  const segments = text.replaceAll("\\", "/").split("/");
  if (segments.some(leadsOut))
    throw refuse(`Platen refuses this ZIP. The path “${visiblePath(text)}” points outside the ZIP. ${rezip}`);
  const kept = segments.filter((segment) => segment !== "" && segment !== ".");
  const path = kept.map((segment) => segment.replace(trailingDots, "")).join("/");
  const flaw = flawOf(path);
  return { path: flaw === undefined ? path : text, isFolder: /[\\/]\.?$/.test(text), flaw };
}

/** The look-behind keeps the time linear: a name in an extra field may have 64 KB. */
const trailingDots = /(?<![. ])[. ]+$/;

/** The Unicode path field (0x7075, APPNOTE 4.6.9), unless its version is not 1 or its CRC belongs to another name. */
function unicodeName(bytes: Buffer, extra: Buffer): string | undefined {
  const crc = crc32(bytes);
  const field = extraFields(extra, 0x7075).find(
    (field) => field.length > 5 && field[0] === 1 && field.readUInt32LE(1) === crc,
  );
  return field && utf8.decode(field.subarray(5));
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

/** Bytes that are not UTF-8 become U+FFFD. */
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** A path for a message: shortened, with its invisible characters made visible. */
export function visiblePath(path: string): string {
  return escapeInvisible(path.length > 80 ? `${path.slice(0, 80)}…` : path);
}

const tooLong = `is longer than ${maxPathLength} characters`;

/** Names that Windows takes for devices, even with blanks or an extension after them. */
const deviceName = /(?:^|\/)(?:con|prn|aux|nul|clock\$|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:[./]|$)/i;

/** Names that Windows cannot create. The first match is the reason in the message. */
const flaws: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^$|^\/|\/\/|\/$/, "has a name of dots and spaces only"],
  [/\ufffd/, "is not valid UTF-8"],
  [/[\u0000-\u001f\u007f]/, "contains a control character"],
  [/[<>:"|*?]/, "contains a character that Windows does not allow"],
  [deviceName, "is the name of a Windows device"],
];

function flawOf(path: string): string | undefined {
  if (path.length > maxPathLength) return tooLong;
  const flaw = flaws.find(([pattern]) => pattern.test(path));
  if (flaw !== undefined) return flaw[1];
  const unseen = firstInvisible(path);
  return unseen && `contains an invisible character (${unseen})`;
}

/** Whether a segment may mean `..`: Windows drops blanks and dots at the end of names. */
function leadsOut(segment: string): boolean {
  return segment.includes("..") && /^[. ]+$/.test(segment);
}
