import { csvRow, neutralizeCell, readCsv, restoreCell } from "../csv.ts";
import { type DriverSummary, driverTitle } from "../drivers/driver.ts";
import { UserError } from "../errors.ts";
import type { FormInput } from "../fields.ts";
import { ticketDigest } from "../printers/print-ticket.ts";
import type { Printer } from "../printers/printer.ts";
import type { PrinterDrivers } from "../printers/printer-drivers.ts";
import { printerDefaults, printerFormValues } from "../printers/printer-fields.ts";
import { firstOf } from "../text.ts";
import { type DriverHint, type ImportedList, type ImportRow, maxRows, tooManyRows } from "./import-row.ts";
import { rowOfQueue } from "./print-server.ts";

/** Fields whose value is not in the file: an id that only this Platen knows, and a text too long for a cell. */
const specialColumns = ["arm64_driver_id", "print_ticket"];

const settingNames = Object.keys(printerDefaults).filter((name) => !specialColumns.includes(name));

/** The columns that identify a driver on any Platen. */
const driverColumns = ["driver", "driver_model", "driver_inf", "driver_version", "driver_sha256"] as const;
/** The prefix of the same columns for the ARM64 driver. */
const arm64 = "arm64_";

/** The file's columns: form fields, and client and drivers as any Platen can find them. */
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

/** The yes/no columns. */
const flagColumns = new Set(
  Object.entries(printerDefaults).flatMap(([name, value]) => (typeof value === "boolean" ? [name] : [])),
);

/** The first line. The byte order mark makes Excel read the file as UTF-8. */
export function csvHead(separator: string): string {
  return `\ufeff${csvRow(csvColumns, separator)}`;
}

export function csvLine(
  printer: Printer,
  client: string,
  drivers: PrinterDrivers<DriverSummary | undefined>,
  separator: string,
): string {
  const { id, created_at } = printer;
  const cells: FormInput = Object.assign(
    printerFormValues(printer),
    { client, id: String(id), created: new Date(created_at).toISOString() },
    { print_ticket: ticketDigest(printer.print_ticket) },
    driverCells("", drivers.driver),
    driverCells(arm64, drivers.arm64Driver),
  );
  const texts = csvColumns.map((name) => {
    const text = cells[name] ?? "";
    return flagColumns.has(name) ? (text === "" ? "no" : "yes") : neutralizeCell(text);
  });
  return csvRow(texts, separator);
}

function driverCells(prefix: string, driver: DriverSummary | undefined): FormInput {
  if (driver === undefined) return {};
  const { driver_desc, inf_path, listed, sha256 } = driver;
  const values = [driverTitle(driver), driver_desc, inf_path, listed?.driverVer?.version, sha256];
  return Object.fromEntries(driverColumns.map((name, i) => [prefix + name, values[i]]));
}

const separators = [",", ";", "\t"] as const;

/** Including blank lines, which spreadsheets may write after the last row. */
const maxLines = 4 * maxRows;

/** A first line that is not the header: Excel's with the separator, or that of `Export-Csv` with the type. */
const firstLine = /^(?:sep=(.)|#TYPE [^\r\n]*)\r?\n/i;
const maxFirstLineCharacters = 1000;

/**
 * Reads a file with any of the columns in any order, or with those of Windows.
 * @throws UserError "invalid" if it has no column “name” or too many rows, and as `readCsv` does
 */
export function readPrinterCsv(text: string): ImportedList {
  const withoutBom = text.startsWith("\ufeff") ? text.slice(1) : text;
  const first = firstLine.exec(withoutBom.slice(0, maxFirstLineCharacters));
  const body = withoutBom.slice(first?.[0].length ?? 0);
  const [heads = [], ...lines] = readCsv(body, first?.[1] ?? separatorIn(body), maxLines + 1);
  const { columnIndexes, notices } = readHeader(heads);
  const has = (...names: string[]) => names.some((name) => columnIndexes.has(name));
  if (!has("name", "Name")) throw missingNameColumn();
  if (lines.length === maxLines) {
    const message = `This list has more than ${maxLines} rows, including blank ones. Remove the blank rows.`;
    throw new UserError("invalid", message);
  }
  const firstNumber = first === null ? 2 : 3;
  const rows = lines.flatMap((cells, i) => {
    const isBlank = cells.every((cell) => cell.trim() === "");
    return isBlank ? [] : rowOf(columnIndexes, heads.length, cells, firstNumber + i);
  });
  if (rows.length > maxRows) throw tooManyRows();
  const isWithoutAddresses = !has("address", "port_name", "PrinterHostAddress", "PortName");
  return { rows, isWithoutAddresses, notices, makers: new Map() };
}

function missingNameColumn(): UserError {
  const message = `The first line must contain the column “name”, or “Printer Name” as an English Windows writes it. Possible columns: ${csvColumns.join(", ")}.`;
  return new UserError("invalid", message);
}

/** The rest of a file is not searched for column names. */
const maxHeaderCharacters = 64 * 1024;

/** The separator that gives the most known columns. @throws UserError if none gives the column “name” */
function separatorIn(text: string): string {
  const parts = text.slice(0, maxHeaderCharacters).split(/[\r\n]/);
  const known = separators.map((separator) => {
    const heads = parts.flatMap((part) => part.split(separator)).map((head) => head.replaceAll('"', ""));
    return { separator, names: new Set(heads.map((head) => columnNamed(head) ?? propertyOf(head)?.[0])) };
  });
  const [best] = known.sort((a, b) => b.names.size - a.names.size);
  if (!best?.names.has("name") && !best?.names.has("Name")) throw missingNameColumn();
  return best.separator;
}

/** The column that a heading names; undefined if unknown. */
function columnNamed(head: string): string | undefined {
  const name = restoreCell(head).trim().toLowerCase().replace(/[ -]/g, "_");
  return csvColumns.includes(name) ? name : undefined;
}

const maxNamedColumns = 10;

/** The index of each known column or property, and notices about the others. */
function readHeader(heads: readonly string[]) {
  const columnIndexes = new Map<string, number>();
  const unknown = new Set<string>();
  const duplicates = new Set<string>();
  const own = heads.map(columnNamed);
  const names = windowsColumns(heads, own) ?? own;
  heads.forEach((head, i) => {
    const name = names[i];
    if (name === undefined) unknown.add(head.trim());
    else if (columnIndexes.has(name)) duplicates.add(name);
    else columnIndexes.set(name, i);
  });
  unknown.delete("");
  const noticeNaming = (text: string, names: ReadonlySet<string>) => {
    const visible = [...names].map((name) => `“${name.slice(0, 60)}”`);
    return visible.length > 0 ? [`${text}: ${firstOf(visible, maxNamedColumns)}.`] : [];
  };
  const notices = [
    ...noticeNaming(`${names === own ? "Unknown" : "Other"} columns are ignored`, unknown),
    ...noticeNaming("Only the first of duplicate columns is used", duplicates),
  ];
  return { columnIndexes, notices };
}

function rowOf(
  columnIndexes: ReadonlyMap<string, number>,
  width: number,
  cells: readonly string[],
  number: number,
): ImportRow {
  const rawCell = (name: string) =>
    columnIndexes.has(name) ? (cells[columnIndexes.get(name) ?? 0] ?? "") : undefined;
  const cell = (name: string) => {
    const text = rawCell(name);
    return text === undefined ? undefined : restoreCell(text);
  };
  const problems: string[] = [];
  if (cells.slice(width).some((text) => text.trim() !== ""))
    problems.push("This row has more cells than the first line. Check its quotes.");
  const values: Record<string, string> = {};
  for (const name of ["name", ...settingNames]) {
    const text = cell(name);
    if (text !== undefined) values[name] = flagColumns.has(name) ? flagOf(name, text, problems) : text;
  }
  const row: ImportRow = {
    number,
    values,
    // Not restored: XML has apostrophes of its own.
    ticket: rawCell("print_ticket"),
    client: cell("client"),
    driver: hintOf(cell),
    arm64Driver: hintOf((name) => cell(arm64 + name)),
    origin: originOf(cell("id") ?? "", cell("created") ?? ""),
    remarks: [],
    problems,
    problemIfNew: undefined,
    leftOut: undefined,
  };
  return columnIndexes.has("Name") ? withQueue(row, cell) : row;
}

const yes = new Set(["yes", "true", "on", "1", "x", "ja", "wahr"]);
const no = new Set(["", "no", "false", "off", "0", "nein", "falsch"]);

/** The cell's value as a checkbox sends it. */
function flagOf(name: string, text: string, problems: string[]): string {
  const word = text.slice(0, 20).trim().toLowerCase();
  if (!yes.has(word) && !no.has(word)) problems.push(`“${name}” is “${word}”. Use yes or no.`);
  return yes.has(word) ? "on" : "";
}

function hintOf(cell: (name: string) => string | undefined): DriverHint | undefined {
  const [title, model, , version = "", sha256] = driverColumns.map((name) => cell(name)?.trim());
  // A version or an INF alone names no driver.
  if (title === undefined && model === undefined && sha256 === undefined) return undefined;
  return { sha256: sha256?.toLowerCase() ?? "", model: model ?? "", title: title ?? "", version };
}

function originOf(id: string, created: string): ImportRow["origin"] {
  const created_at = Date.parse(created.trim().slice(0, 40));
  if (!/^[1-9]\d{0,14}$/.test(id.trim()) || Number.isNaN(created_at)) return undefined;
  return { id: Number(id), created_at };
}

/**
 * Properties of a queue and its port, as `Get-Printer | Export-Csv` names them, with Platen's column that says the same,
 * and the names in Print Management's exports and common scripts, in lower case.
 */
const properties: readonly (readonly [property: string, own: string, ...names: string[]])[] = [
  ["Name", "name", "printername"],
  ["DriverName", "driver_model", "printdrivername"],
  ["PortName", "port_name"],
  ["PrinterHostAddress", "address", "address", "hostaddress", "ipaddress"],
  ["Location", "location"],
  ["Comment", "comment", "comments"],
  ["Type", ""],
  ["Protocol", "protocol"],
  ["PortNumber", "port_number"],
  ["LprQueueName", "lpr_queue"],
  ["SNMPEnabled", "snmp"],
  ["SNMPCommunity", "snmp_community"],
  ["SNMPIndex", "snmp_index"],
];

/** The properties whose names make a list one of Windows. The others may be columns of any list. */
const telling = ["Name", "DriverName", "PortName", "PrinterHostAddress"];

/** How a print server shares its queues is not copied to the PCs. */
const sharing = ["shared", "share_name"];

/** The property that a heading names, such as “Driver Name”, with its other names; undefined if unknown. */
function propertyOf(head: string) {
  const name = head.toLowerCase().replace(/[ _-]/g, "");
  return properties.find(([property, , ...names]) => [property.toLowerCase(), ...names].includes(name));
}

/**
 * The columns of a list of Windows: properties, and Platen's other columns. A name of Windows counts if the list has no
 * column of Platen for it, so lists with all columns of Platen stay such lists.
 * @param own the columns of Platen that the headings name
 * @returns undefined for a list of Platen
 */
function windowsColumns(
  heads: readonly string[],
  own: readonly (string | undefined)[],
): (string | undefined)[] | undefined {
  const named = heads.map((head, i) => {
    const [property, column] = propertyOf(head) ?? [];
    return own[i] === undefined && own.includes(column) ? undefined : property;
  });
  const isTelling = named.some((property = "", i) => own[i] === undefined && telling.includes(property));
  if (!isTelling) return undefined;
  return named.map((property, i) => property ?? (sharing.includes(own[i] ?? "") ? undefined : own[i]));
}

/**
 * Adds what the columns of Windows say to a row.
 * @param row has what Platen's other columns say
 * @param cell the text of a column; undefined if the list does not have it
 */
function withQueue(row: ImportRow, cell: (column: string) => string | undefined): ImportRow {
  const queue = Object.fromEntries(properties.map(([property]) => [property, cell(property)]));
  const { values, driver, remarks, problems, problemIfNew, leftOut } = rowOfQueue(queue, row.number);
  return {
    ...row,
    values: { ...row.values, ...values },
    driver: row.driver ?? (driver && { ...driver, version: cell("driver_version")?.trim() ?? "" }),
    remarks,
    problems: [...row.problems, ...problems],
    problemIfNew,
    leftOut,
  };
}
