import { csvHead, csvLine } from "../domain/printer-csv.ts";
import type { Store } from "../store/store.ts";

/** What may stand between cells: Excel takes the semicolon where a comma is the decimal sign. */
type CsvSeparator = "," | ";";

/** All printers as a file. As long as nothing changes, everybody is given the same bytes. */
export class PrinterExport {
  readonly #store: Store;
  #version: number | undefined;
  readonly #made = new Map<CsvSeparator, Buffer>();

  constructor(store: Store) {
    this.#store = store;
  }

  bytes(separator: CsvSeparator): Buffer {
    const version = this.#store.version();
    if (version !== this.#version) this.#made.clear();
    this.#version = version;
    const bytes = this.#made.get(separator) ?? Buffer.from(this.#text(separator));
    this.#made.set(separator, bytes);
    return bytes;
  }

  #text(separator: CsvSeparator): string {
    const { printers, clients, drivers } = this.#store;
    const names = new Map(clients.names().map(({ id, name }) => [id, name]));
    const summaries = new Map(drivers.summaries().map((driver) => [driver.id, driver]));
    const lines = printers.whole().map((printer) => {
      const client = names.get(printer.client_id ?? 0) ?? "";
      const driver = summaries.get(printer.driver_id ?? 0);
      const arm64Driver = summaries.get(printer.arm64_driver_id ?? 0);
      return csvLine(printer, client, { driver, arm64Driver }, separator);
    });
    return csvHead(separator) + lines.join("");
  }
}
