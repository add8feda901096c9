import { clientNameKey } from "./client.ts";
import { cleanText } from "./fields.ts";
import type { ImportRow } from "./import-row.ts";
import type { ClientName } from "./listings.ts";
import type { Printer } from "./printer.ts";

/** Which printer a row is; a row that is in no match makes one. */
export type RowMatch =
  | { readonly printer: Printer; readonly problem?: undefined }
  | { readonly problem: string; readonly printer?: undefined };

const rowsAStep = 200;

/**
 * Finds the printer of each row, in steps. A row is the printer that it was exported from; else the printer of its name
 * at its client, whatever their case. A row that was copied in a spreadsheet and got another name makes a printer.
 */
export function* matchRows(
  rows: readonly ImportRow[],
  printers: readonly Printer[],
  clients: ReadonlyMap<string, ClientName>,
): Generator<undefined, Map<ImportRow, RowMatch>> {
  const matcher = new Matcher(rows, printers, clients);
  for (const pass of [matcher.byOriginAndName, matcher.byOrigin, matcher.byName]) {
    for (const [i, row] of rows.entries()) {
      if (i % rowsAStep === 0) yield;
      if (!matcher.matches.has(row)) pass(row);
    }
  }
  return matcher.matches;
}

class Matcher {
  readonly matches = new Map<ImportRow, RowMatch>();
  readonly #clients: ReadonlyMap<string, ClientName>;
  readonly #byId: ReadonlyMap<number, Printer>;
  readonly #byKey = new Map<string, Printer[]>();
  /** How many rows say that they were exported from it. */
  readonly #origins = new Map<number, number>();
  /** The row of each printer that has one. */
  readonly #rowOf = new Map<number, ImportRow>();
  /** Rows that make a printer. */
  readonly #making = new Map<string, ImportRow>();

  constructor(
    rows: readonly ImportRow[],
    printers: readonly Printer[],
    clients: ReadonlyMap<string, ClientName>,
  ) {
    this.#clients = clients;
    this.#byId = new Map(printers.map((printer) => [printer.id, printer]));
    for (const printer of printers) {
      const key = keyOf(String(printer.client_id ?? ""), printer.name);
      const twins = this.#byKey.get(key);
      if (twins === undefined) this.#byKey.set(key, [printer]);
      else twins.push(printer);
    }
    for (const { origin } of rows) {
      if (origin !== undefined) this.#origins.set(origin.id, 1 + (this.#origins.get(origin.id) ?? 0));
    }
  }

  readonly byOriginAndName = (row: ImportRow): void => {
    const printer = this.#originOf(row);
    if (printer === undefined) return;
    if (this.#byKey.get(this.#keyOf(row))?.includes(printer)) this.#take(row, printer);
  };

  readonly byOrigin = (row: ImportRow): void => {
    const printer = this.#originOf(row);
    if (printer !== undefined) this.#take(row, printer);
  };

  readonly byName = (row: ImportRow): void => {
    const key = this.#keyOf(row);
    const twins = this.#byKey.get(key) ?? [];
    const [printer, other] = twins.filter(({ id }) => !this.#rowOf.has(id));
    if (printer !== undefined && other !== undefined) {
      const problem = `${twins.length} printers of this client have this name: only “id” and “created” of an export tell them apart.`;
      this.matches.set(row, { problem });
    } else if (printer !== undefined) this.#take(row, printer);
    else this.#make(row, key, twins);
  };

  /** Two rows of one name are two printers only where they were two when they were exported. */
  #make(row: ImportRow, key: string, twins: readonly Printer[]): void {
    const [first] = twins;
    const earlier = first === undefined ? this.#making.get(key) : this.#rowOf.get(first.id);
    const isOwn = row.origin !== undefined && this.#origins.get(row.origin.id) === 1;
    if (earlier === undefined || isOwn) this.#making.set(key, row);
    else {
      const problem = `Row ${earlier.number} is a printer of the same name at the same client.`;
      this.matches.set(row, { problem });
    }
  }

  /** The printer that a row was exported from, unless another row is it: an id alone may come from another Platen. */
  #originOf({ origin }: ImportRow): Printer | undefined {
    const printer = origin && this.#byId.get(origin.id);
    return printer?.created_at === origin?.created_at && printer && !this.#rowOf.has(printer.id)
      ? printer
      : undefined;
  }

  #take(row: ImportRow, printer: Printer): void {
    this.matches.set(row, { printer });
    this.#rowOf.set(printer.id, row);
  }

  #keyOf({ client, values }: ImportRow): string {
    const clientKey = clientNameKey(cleanText(client ?? ""));
    const known = this.#clients.get(clientKey);
    // A client that is yet to be made has no id: a name that is no number stands for it.
    const place = known === undefined && clientKey !== "" ? `new ${clientKey}` : String(known?.id ?? "");
    return keyOf(place, cleanText(values.name ?? ""));
  }
}

function keyOf(client: string, name: string): string {
  return `${client}\n${name.toLowerCase()}`;
}
