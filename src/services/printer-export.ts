import { csvHead, csvLine } from "../domain/printer-csv.ts";
import type { Store } from "../store/store.ts";
import { Admission } from "../workers/admission.ts";
import { type Records, readRecords } from "./records.ts";
import { inSteps } from "./steps.ts";

/** What may stand between cells: Excel takes the semicolon where a comma is the decimal sign. */
type CsvSeparator = "," | ";";

/** All printers as a file. As long as nothing changes, everybody is given the same bytes. */
export class PrinterExport {
  readonly #store: Store;
  readonly #turns = new Admission(1);
  readonly #made = new Map<CsvSeparator, { readonly version: number; readonly bytes: WeakRef<Buffer> }>();

  constructor(store: Store) {
    this.#store = store;
  }

  bytes(separator: CsvSeparator): Promise<Buffer> {
    return this.#turns.run(async () => {
      const made = this.#made.get(separator);
      const known = made?.version === this.#store.version() ? made.bytes.deref() : undefined;
      if (known !== undefined) return known;
      const { value: records, version } = await this.#store.atOneMoment(() => readRecords(this.#store));
      const bytes = Buffer.concat(await inSteps(linesOf(records, separator)));
      this.#made.set(separator, { version, bytes: new WeakRef(bytes) });
      return bytes;
    });
  }
}

const linesAStep = 50;

function* linesOf(records: Records, separator: CsvSeparator): Generator<undefined, Buffer[]> {
  const clients = new Map(records.clients.map(({ id, name }) => [id, name]));
  const drivers = new Map(records.drivers.map((driver) => [driver.id, driver]));
  const parts = [Buffer.from(csvHead(separator))];
  for (let i = 0; i < records.printers.length; i += linesAStep) {
    const lines = records.printers.slice(i, i + linesAStep).map((printer) => {
      const client = clients.get(printer.client_id ?? 0) ?? "";
      const driver = drivers.get(printer.driver_id ?? 0);
      const arm64Driver = drivers.get(printer.arm64_driver_id ?? 0);
      return csvLine(printer, client, { driver, arm64Driver }, separator);
    });
    parts.push(Buffer.from(lines.join("")));
    yield;
  }
  return parts;
}
