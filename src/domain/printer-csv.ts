import { csvRow } from "./csv.ts";
import { type DriverSummary, driverTitle } from "./driver.ts";
import type { FormInput } from "./fields.ts";
import { ticketName } from "./print-ticket.ts";
import type { Printer } from "./printer.ts";
import { printerDefaults, printerFormValues } from "./printer-fields.ts";

/** What no cell holds as it is: an id of this service, and what a spreadsheet would cut off. */
const otherwise = ["arm64_driver_id", "print_ticket"];
/** The columns of what a form sets. */
export const settingNames = Object.keys(printerDefaults).filter((name) => !otherwise.includes(name));

/** What tells a driver from others wherever the file is imported. */
export const driverColumns = [
  "driver",
  "driver_model",
  "driver_inf",
  "driver_version",
  "driver_sha256",
] as const;
/** Likewise the driver for ARM64 machines. */
export const arm64 = "arm64_";

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
export const flags = new Set(
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

const sign = /[=+\-@\t\r＝＋－＠]/;

/**
 * A spreadsheet computes what begins with one of these signs, some also where the sign is of full width, and behind a
 * separator or a line break where it takes another separator than ours. An apostrophe before it makes it a text.
 */
export function neutral(text: string): string {
  if (!sign.test(text)) return text;
  return text.replace(/(?:^|(?<=[,;\n]))(?=[ "']*[=+\-@\t\r＝＋－＠])/g, "'");
}

/** The text that `neutral` was given; an apostrophe that has nothing to hide stays. */
export function restored(text: string): string {
  return text.replace(/(?:^|(?<=[,;\n]))'(?=[ "']*[=+\-@\t\r＝＋－＠])/g, "");
}
