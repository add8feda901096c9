/** A value that can be put into a script. There is no other way to put data into a script. */
export type PowerShellValue =
  | string
  | number
  | boolean
  | null
  | Lines
  | readonly PowerShellValue[]
  | { readonly [key: string]: PowerShellValue };

/** Text of several lines that stays readable in a script. It is rendered as a here-string. */
export class Lines {
  readonly text: string;

  /** @throws Error if a here-string cannot contain the text */
  constructor(text: string) {
    if (!/^[\t\n -~]*$/.test(text) || /^'@/m.test(text))
      throw new Error("a here-string cannot contain this text");
    this.text = text;
  }
}

/**
 * Renders PowerShell: every interpolated value becomes a literal. Text is put into single quotes, where only
 * PowerShell's five kinds of single quotes have a meaning. Two kinds of characters are written as numbers: those that a
 * file could lose or change (controls, lone surrogates), and those that change the direction of the text after them.
 */
export function powershell(parts: TemplateStringsArray, ...values: PowerShellValue[]): string {
  return parts.reduce((text, part, i) => text + literal(values[i - 1] ?? null, false, "") + part);
}

/** Renders pure ASCII, for files that may be read in another encoding. */
export function asciiPowershell(parts: TemplateStringsArray, ...values: PowerShellValue[]): string {
  return parts.reduce((text, part, i) => text + literal(values[i - 1] ?? null, true, "") + part);
}

function literal(value: PowerShellValue, ascii: boolean, indent: string): string {
  if (value === null) return "$null";
  if (typeof value === "string") return textLiteral(value, ascii);
  if (typeof value === "boolean") return value ? "$true" : "$false";
  if (typeof value === "number") return numberLiteral(value);
  if (value instanceof Lines) return `@'\n${value.text}\n'@`;
  const inner = `${indent}\t`;
  if (isList(value)) {
    const items = value.map((item) => literal(item, ascii, inner));
    const isShort = value.every((item) => typeof item !== "object" || item === null);
    return isShort
      ? `@(${items.join(", ")})`
      : `@(\n${items.map((item) => inner + item).join(",\n")}\n${indent})`;
  }
  const rows = Object.entries(value).map(
    ([key, item]) => `${inner}${keyLiteral(key)} = ${literal(item, ascii, inner)}`,
  );
  return `@{\n${rows.join("\n")}\n${indent}}`;
}

function isList(value: object): value is readonly PowerShellValue[] {
  return Array.isArray(value);
}

function numberLiteral(value: number): string {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} cannot be part of a script`);
  return String(value);
}

function keyLiteral(key: string): string {
  if (!/^[A-Za-z][A-Za-z0-9]*$/.test(key)) throw new Error(`“${key}” cannot be a key in a script`);
  return key;
}

/** Characters that must be escaped. Consecutive line feeds and tabs are one match. */
const unsafe =
  /([\n\t]+|[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff])/;
const unsafeOrNotAscii = /([\n\t]+|[^\u0020-\u007e])/;

function textLiteral(text: string, ascii: boolean): string {
  // `split` with a group alternates: a piece that can stay as it is, then what the group matched.
  const pieces = text.split(ascii ? unsafeOrNotAscii : unsafe);
  if (pieces.length === 1) return quoted(text);
  const parts = pieces.map((piece, i) => (i % 2 === 0 ? quoted(piece) : escaped(piece)));
  // Concatenation with `+` would copy the text once for each piece.
  return `(-join (${parts.filter((part) => part !== "''").join(", ")}))`;
}

/** @param piece one character, or line feeds and tabs */
function escaped(piece: string): string {
  if (/[\n\t]/.test(piece)) return `"${piece.replaceAll("\n", "`n").replaceAll("\t", "`t")}"`;
  return `[char]0x${piece.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Windows PowerShell ends a single-quoted string at any of these quotes. A doubled quote is a literal one. */
function quoted(text: string): string {
  return `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, "$&$&")}'`;
}
