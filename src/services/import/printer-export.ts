import { csvHead, csvLine } from "../../domain/import/printer-csv.ts";
import type { Store } from "../../store/store.ts";

/** All printers as a file. @param separator of cells: Excel takes the semicolon where a comma is the decimal sign */
export function exportPrinters({ printers, clients, drivers }: Store, separator: "," | ";"): Buffer {
  const names = new Map(clients.names().map(({ id, name }) => [id, name]));
  const summaries = new Map(drivers.summaries().map((driver) => [driver.id, driver]));
  const lines = printers.whole().map((printer) => {
    const client = names.get(printer.client_id ?? 0) ?? "";
    const driver = summaries.get(printer.driver_id ?? 0);
    const arm64Driver = summaries.get(printer.arm64_driver_id ?? 0);
    return csvLine(printer, client, { driver, arm64Driver }, separator);
  });
  return Buffer.from(csvHead(separator) + lines.join(""));
}
