import { csvRow, neutral, readCsv, restored } from "../csv.ts";
import { type DriverSummary, driverTitle } from "../drivers/driver.ts";
import { UserError } from "../errors.ts";
import type { FormInput } from "../fields.ts";
import { ticketName } from "../printers/print-ticket.ts";
import type { Printer } from "../printers/printer.ts";
import { printerDefaults, printerFormValues } from "../printers/printer-fields.ts";
import { firstOf } from "../text.ts";
import { type DriverHint, type ImportedList, type ImportRow, maxRows, tooMany } from "./import-row.ts";

/** What no cell holds as it is: an id of this service, and what a spreadsheet would cut off. */
const otherwise = ["arm64_driver_id", "print_ticket"];
/** The columns of what a form sets. */
const settingNames = Object.keys(printerDefaults).filter((name) => !otherwise.includes(name));

/** What tells a driver from others wherever the file is imported. */
const driverColumns = ["driver", "driver_model", "driver_inf", "driver_version", "driver_sha256"] as const;
/** Likewise the driver for ARM64 machines. */
const arm64 = "arm64_";

/** The file's columns: the form's fields by their names, client and driver by what names them everywhere. */
export const csvColumns: readonly string[] = [
  "name",
  "client",
  "driver",
  ...settingNames,
  ...driverColumns.slice(1),
  ...driverColumns.map((name) => arm64 + name),
  "print_ticket",
  "id",
  "created",
];

/** The columns that are yes or no. */
const flags = new Set(
  Object.entries(printerDefaults).flatMap(([name, value]) => (typeof value === "boolean" ? [name] : [])),
);

/** The first line. Excel takes a file for UTF-8 where it begins with the mark. */
export function csvHead(separator: string): string {
  return `\ufeff${csvRow(csvColumns, separator)}`;
}

/** A printer's line. */
export function csvLine(
  printer: Printer,
  client: string,
  drivers: PrinterDrivers,
  separator: string,
): string {
  const { id, created_at } = printer;
  const cells: FormInput = Object.assign(
    printerFormValues(printer),
    { client, id: String(id), created: new Date(created_at).toISOString() },
    { print_ticket: ticketName(printer.print_ticket) },
    driverCells("", drivers.driver),
    driverCells(arm64, drivers.arm64Driver),
  );
  const texts = csvColumns.map((name) => {
    const text = cells[name] ?? "";
    return flags.has(name) ? (text === "" ? "no" : "yes") : neutral(text);
  });
  return csvRow(texts, separator);
}

interface PrinterDrivers {
  readonly driver: DriverSummary | undefined;
  readonly arm64Driver: DriverSummary | undefined;
}

function driverCells(prefix: string, driver: DriverSummary | undefined): FormInput {
  if (driver === undefined) return {};
  const { driver_desc, inf_path, listed, sha256 } = driver;
  const values = [driverTitle(driver), driver_desc, inf_path, listed?.driverVer?.version, sha256];
  return Object.fromEntries(driverColumns.map((name, i) => [prefix + name, values[i]]));
}

const separators = [",", ";", "\t"] as const;

/** With the blank ones: a spreadsheet may write some behind its last row. */
const maxLines = 4 * maxRows;

/**
 * Reads a file as `csvHead` and `csvLine` make it, or one with some of the columns in any order.
 * @throws UserError "invalid" where it has no column “name”, and as `readCsv` does
 */
export function readPrinterCsv(text: string): ImportedList {
  const marked = text.startsWith("\ufeff") ? text.slice(1) : text;
  const named = /^sep=(.)\r?\n/i.exec(marked.slice(0, 8));
  const body = marked.slice(named?.[0].length ?? 0);
  const [heads = [], ...lines] = readCsv(body, named?.[1] ?? separatorIn(body), maxLines + 1);
  const { places, notices } = columnsIn(heads);
  if (!places.has("name")) throw withoutName();
  if (lines.length === maxLines) {
    const message = `This list has more than ${maxLines} rows with its blank ones: take those out.`;
    throw new UserError("invalid", message);
  }
  const firstNumber = named === null ? 2 : 3;
  const rows = lines.flatMap((cells, i) => {
    const isBlank = cells.every((cell) => cell.trim() === "");
    return isBlank ? [] : rowOf(places, heads.length, cells, firstNumber + i);
  });
  if (rows.length > maxRows) throw tooMany();
  return { rows, notices, makers: new Map() };
}

function withoutName(): UserError {
  const names = csvColumns.join(", ");
  const message = `The first line must name the columns, “name” among them. Possible are: ${names}.`;
  return new UserError("invalid", message);
}

/** So much of a file is looked at for names of columns, in characters. */
const maxHead = 64 * 1024;

/** The separator that makes most columns known. @throws UserError where none makes the column “name” */
function separatorIn(text: string): string {
  const parts = text.slice(0, maxHead).split(/[\r\n]/);
  const known = separators.map((separator) => {
    const heads = parts.flatMap((part) => part.split(separator));
    return { separator, names: new Set(heads.map((head) => columnIn(head.replaceAll('"', "")))) };
  });
  const [best] = known.sort((a, b) => b.names.size - a.names.size);
  if (!best?.names.has("name")) throw withoutName();
  return best.separator;
}

/** The column that a heading names; undefined where it means nothing here. */
function columnIn(head: string): string | undefined {
  const name = restored(head).trim().toLowerCase().replace(/[ -]/g, "_");
  return csvColumns.includes(name) ? name : undefined;
}

const shownHeads = 10;

/** The place of each column that is known, and what must be said of the others. */
function columnsIn(heads: readonly string[]) {
  const places = new Map<string, number>();
  const unknown = new Set<string>();
  const twice = new Set<string>();
  heads.forEach((head, i) => {
    const name = columnIn(head);
    if (name === undefined) unknown.add(head.trim());
    else if (places.has(name)) twice.add(name);
    else places.set(name, i);
  });
  unknown.delete("");
  const saying = (text: string, names: ReadonlySet<string>) => {
    const visible = [...names].map((name) => `“${name.slice(0, 60)}”`);
    return visible.length > 0 ? [`${text}: ${firstOf(visible, shownHeads)}.`] : [];
  };
  const notices = [
    ...saying("Columns that mean nothing here are passed over", unknown),
    ...saying("Of columns that are there twice the first is taken", twice),
  ];
  return { places, notices };
}

function rowOf(
  places: ReadonlyMap<string, number>,
  width: number,
  cells: readonly string[],
  number: number,
): ImportRow {
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
