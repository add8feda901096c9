import { readCsv } from "./csv.ts";
import { UserError } from "./errors.ts";
import { type DriverHint, type ImportedList, type ImportRow, mostRows, tooMany } from "./import-row.ts";
import { arm64, csvColumns, driverColumns, flags, restored, settingNames } from "./printer-csv.ts";
import { firstOf } from "./sentences.ts";

/** How a file's columns lie. */
interface Layout {
  readonly separator: string;
  /** The place of each column that is known. */
  readonly places: ReadonlyMap<string, number>;
  readonly width: number;
  readonly notices: readonly string[];
  /** Why the first line cannot be read so. */
  readonly problem: UserError | undefined;
}

const separators = [",", ";", "\t"] as const;

/** With the blank ones: a spreadsheet may write some behind its last row. */
const mostLines = 4 * mostRows;

/**
 * Reads a file as `csvHead` and `csvLine` make it, or one with some of the columns in any order.
 * @throws UserError "invalid" where it has no column “name”, and as `readCsv` does
 */
export function readPrinterCsv(text: string): ImportedList {
  const marked = text.startsWith("\ufeff") ? text.slice(1) : text;
  const named = /^sep=(.)\r?\n/i.exec(marked.slice(0, 8));
  const body = marked.slice(named?.[0].length ?? 0);
  const layout = layoutOf(body, named?.[1]);
  const lines = readCsv(body, layout.separator, mostLines + 1);
  if (lines.length > mostLines) {
    const message = `This list has more than ${mostLines} rows with its blank ones: take those out.`;
    throw new UserError("invalid", message);
  }
  const firstNumber = named === null ? 1 : 2;
  const rows = lines.flatMap((cells, i) => {
    return i === 0 || isBlank(cells) ? [] : rowOf(layout, cells, firstNumber + i);
  });
  if (rows.length > mostRows) throw tooMany();
  return { rows, notices: layout.notices, makers: new Map() };
}

function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === "");
}

/** The separator is the one that makes most columns known. */
function layoutOf(text: string, named: string | undefined): Layout {
  const tried = (named === undefined ? separators : [named]).map((separator) => {
    return layoutFor(separator, firstRowOf(text, separator));
  });
  const [best] = tried.sort((a, b) => b.places.size - a.places.size);
  if (best?.problem !== undefined && best.places.has("name")) throw best.problem;
  if (best?.places.has("name")) return best;
  const names = csvColumns.join(", ");
  throw new UserError(
    "invalid",
    `The first line must name the columns, “name” among them. Possible are: ${names}.`,
  );
}

interface FirstRow {
  readonly heads: readonly string[];
  readonly problem?: UserError;
}

/** Of a first line that cannot be read, so much is looked at, in characters. */
const mostHead = 64 * 1024;

/** With a wrong separator anything may be found: what is wrong counts only where the columns are known all the same. */
function firstRowOf(text: string, separator: string): FirstRow {
  try {
    return { heads: readCsv(text, separator, 1)[0] ?? [] };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const [line = ""] = text.slice(0, mostHead).split("\n", 1);
    return { heads: line.split(separator), problem: error };
  }
}

const shownHeads = 10;

function layoutFor(separator: string, { heads, problem }: FirstRow): Layout {
  const places = new Map<string, number>();
  const unknown = new Set<string>();
  const twice = new Set<string>();
  heads.forEach((head, i) => {
    const name = restored(head).trim().toLowerCase().replace(/[ -]/g, "_");
    if (!csvColumns.includes(name)) unknown.add(head.trim());
    else if (places.has(name)) twice.add(name);
    else places.set(name, i);
  });
  return { separator, places, width: heads.length, notices: noticesOf([...unknown], [...twice]), problem };
}

function noticesOf(unknown: readonly string[], twice: readonly string[]): string[] {
  const named = unknown.filter((head) => head !== "");
  const list = (names: readonly string[]) => {
    const shown = names.slice(0, shownHeads).map((name) => `“${name.slice(0, 60)}”`);
    return firstOf(shown, shownHeads, names.length);
  };
  return [
    ...(named.length > 0 ? [`Columns that mean nothing here are passed over: ${list(named)}.`] : []),
    ...(twice.length > 0 ? [`Of columns that are there twice the first is taken: ${list(twice)}.`] : []),
  ];
}

function rowOf({ places, width }: Layout, cells: readonly string[], number: number): ImportRow {
  const brought = (name: string) => (places.has(name) ? (cells[places.get(name) ?? 0] ?? "") : undefined);
  const cell = (name: string) => {
    const text = brought(name);
    return text === undefined ? undefined : restored(text);
  };
  const problems: string[] = [];
  if (cells.slice(width).some((text) => text.trim() !== ""))
    problems.push("It has more cells than the first line has columns: a quote may be missing.");
  const values: Record<string, string> = {};
  for (const name of ["name", ...settingNames]) {
    const text = cell(name);
    if (text !== undefined) values[name] = flags.has(name) ? flagOf(name, text, problems) : text;
  }
  return {
    number,
    values,
    // XML has apostrophes of its own.
    ticket: brought("print_ticket"),
    client: cell("client"),
    driver: hintOf(cell),
    arm64Driver: hintOf((name) => cell(arm64 + name)),
    origin: originOf(cell("id") ?? "", cell("created") ?? ""),
    notes: [],
    problems,
    leftOut: undefined,
  };
}

const yes = new Set(["yes", "true", "on", "1", "x", "ja", "wahr"]);
const no = new Set(["", "no", "false", "off", "0", "nein", "falsch"]);

/** As a checkbox sends it. */
function flagOf(name: string, text: string, problems: string[]): string {
  const word = text.slice(0, 20).trim().toLowerCase();
  if (!yes.has(word) && !no.has(word)) problems.push(`“${name}” is “${word}”; it can be yes or no.`);
  return yes.has(word) ? "on" : "";
}

function hintOf(cell: (name: string) => string | undefined): DriverHint | undefined {
  const [title, model, , version = "", sha256] = driverColumns.map((name) => cell(name)?.trim());
  // A version alone, or an INF, names no driver.
  if (title === undefined && model === undefined && sha256 === undefined) return undefined;
  return { sha256: sha256?.toLowerCase() ?? "", model: model ?? "", title: title ?? "", version };
}

function originOf(id: string, created: string): ImportRow["origin"] {
  const created_at = Date.parse(created.trim().slice(0, 40));
  if (!/^[1-9]\d{0,14}$/.test(id.trim()) || Number.isNaN(created_at)) return undefined;
  return { id: Number(id), created_at };
}
