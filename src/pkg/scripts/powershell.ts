/** What a script can be given. Nothing else compiles, and nothing reaches a script in another way. */
export type PowerShellValue =
  | string
  | number
  | boolean
  | null
  | readonly PowerShellValue[]
  | { readonly [key: string]: PowerShellValue };

/**
 * Renders PowerShell: every hole becomes a literal. Text stands in single quotes, in which only the five
 * quotes that PowerShell knows have a meaning; characters that a file could lose or change (controls,
 * lone surrogates), and those that let the text behind them be read in another order than it is, are written as numbers.
 */
export function powershell(parts: TemplateStringsArray, ...holes: PowerShellValue[]): string {
  return parts.reduce((text, part, i) => text + literal(holes[i - 1] ?? null, false, "") + part);
}

/** The same in pure ASCII, for files whose encoding nobody can be sure of. */
export function asciiPowershell(parts: TemplateStringsArray, ...holes: PowerShellValue[]): string {
  return parts.reduce((text, part, i) => text + literal(holes[i - 1] ?? null, true, "") + part);
}

function literal(value: PowerShellValue, ascii: boolean, indent: string): string {
  if (value === null) return "$null";
  if (typeof value === "string") return textLiteral(value, ascii);
  if (typeof value === "boolean") return value ? "$true" : "$false";
  if (typeof value === "number") return numberLiteral(value);
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
  if (!Number.isSafeInteger(value)) throw new Error(`${value} cannot stand in a script`);
  return String(value);
}

function keyLiteral(key: string): string {
  if (!/^[A-Za-z][A-Za-z0-9]*$/.test(key)) throw new Error(`“${key}” cannot be a key in a script`);
  return key;
}

/** Characters that must not stand in the file as they are; of line feeds and tabs as many as follow each other. */
const unsafe =
  /([\n\t]+|[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff])/;
const unsafeOrNotAscii = /([\n\t]+|[^\u0020-\u007e])/;

function textLiteral(text: string, ascii: boolean): string {
  // Between the pieces that can stand as they are, `split` gives the characters that it found.
  const pieces = text.split(ascii ? unsafeOrNotAscii : unsafe);
  if (pieces.length === 1) return quoted(text);
  const parts = pieces.map((piece, i) => (i % 2 === 0 ? quoted(piece) : escaped(piece)));
  // A sum would copy the text once for each piece.
  return `(-join (${parts.filter((part) => part !== "''").join(", ")}))`;
}

/** One character, or line feeds and tabs. */
function escaped(piece: string): string {
  if (/[\n\t]/.test(piece)) return `"${piece.replaceAll("\n", "`n").replaceAll("\t", "`t")}"`;
  return `[char]0x${piece.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Windows PowerShell ends a single-quoted string at any of these; doubled, each stands for itself. */
function quoted(text: string): string {
  return `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, "$&$&")}'`;
}
