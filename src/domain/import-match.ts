import { clientNameKey } from "./client.ts";
import { cleanText } from "./fields.ts";
import type { ImportRow } from "./import-row.ts";
import type { ClientName } from "./listings.ts";
import type { Printer } from "./printer.ts";

/** Which printer a row is; a row that is in no match makes one. */
export type RowMatch =
  | { readonly printer: Printer; readonly problem?: undefined; readonly note?: string }
  | { readonly problem: string; readonly printer?: undefined; readonly note?: undefined };

const rowsAStep = 200;

/** What rows are compared with. */
interface Here {
  readonly printers: readonly Printer[];
  /** By the keys of their names. */
  readonly clients: ReadonlyMap<string, ClientName>;
  /** The client of rows that say nothing of one; empty is none. */
  readonly client: string;
}

/**
 * Finds the printer of each row, in steps. A row is the printer that it was exported from; else the printer of its name
 * at its client, whatever their case. A row that says nothing of a client, and has none from elsewhere, is the printer
 * of its name wherever that is the only one. A row that was copied in a spreadsheet and got another name makes a printer.
 */
export function* matchRows(
  rows: readonly ImportRow[],
  here: Here,
): Generator<undefined, Map<ImportRow, RowMatch>> {
  const matcher = new Matcher(rows, here);
  for (const pass of [matcher.byOriginAndName, matcher.byOrigin, matcher.byName]) {
    for (const [i, row] of rows.entries()) {
      if (i % rowsAStep === 0) yield;
      if (!matcher.matches.has(row)) pass(row);
    }
  }
  return matcher.matches;
}

/** Printers of one name, at one client or anywhere. */
class Namesakes {
  readonly printers: Printer[] = [];
  /** How many of them are no row's yet. */
  free = 0;
  /** All before it are some row's. */
  #next = 0;

  add(printer: Printer): void {
    this.printers.push(printer);
    this.free++;
  }

  /** The first that is no row's; each is looked at once, however often this is asked. */
  firstFree(rowOf: ReadonlyMap<number, ImportRow>): Printer | undefined {
    while (rowOf.has(this.printers[this.#next]?.id ?? 0)) this.#next++;
    return this.printers[this.#next];
  }
}

class Matcher {
  readonly matches = new Map<ImportRow, RowMatch>();
  readonly #clients: ReadonlyMap<string, ClientName>;
  readonly #client: string;
  readonly #byId: ReadonlyMap<number, Printer>;
  /** By name and client, and by the name alone. */
  readonly #namesakes = new Map<string, Namesakes>();
  readonly #clientNames: ReadonlyMap<number, string>;
  /** Names, without a client, that printers of several clients have. */
  readonly #spread = new Set<string>();
  /** How many rows say that they were exported from it. */
  readonly #origins = new Map<number, number>();
  /** The row of each printer that has one. */
  readonly #rowOf = new Map<number, ImportRow>();
  /** Rows that make a printer. */
  readonly #making = new Map<string, ImportRow>();

  constructor(rows: readonly ImportRow[], { printers, clients, client }: Here) {
    this.#clients = clients;
    this.#client = client;
    this.#byId = new Map(printers.map((printer) => [printer.id, printer]));
    this.#clientNames = new Map([...clients.values()].map(({ id, name }) => [id, name]));
    for (const printer of printers) this.#note(printer);
    for (const { origin } of rows) {
      if (origin !== undefined) this.#origins.set(origin.id, 1 + (this.#origins.get(origin.id) ?? 0));
    }
  }

  #note(printer: Printer): void {
    for (const key of keysOf(printer)) {
      const namesakes = this.#namesakes.get(key) ?? new Namesakes();
      namesakes.add(printer);
      if (namesakes.printers[0]?.client_id !== printer.client_id) this.#spread.add(key);
      this.#namesakes.set(key, namesakes);
    }
  }

  readonly byOriginAndName = (row: ImportRow): void => {
    const printer = this.#originOf(row);
    if (printer === undefined) return;
    const place = row.client === undefined ? anywhere : this.#placeOf(row.client);
    if (keysOf(printer).includes(keyOf(place, nameOf(row)))) this.#take(row, printer);
  };

  readonly byOrigin = (row: ImportRow): void => {
    const printer = this.#originOf(row);
    if (printer !== undefined) this.#take(row, printer);
  };

  readonly byName = (row: ImportRow): void => {
    const client = row.client ?? this.#client;
    const isOpen = row.client === undefined && cleanText(client) === "";
    const key = keyOf(isOpen ? anywhere : this.#placeOf(client), nameOf(row));
    const namesakes = this.#namesakes.get(key);
    const problem = namesakes && this.#doubt(key, namesakes);
    const printer = namesakes?.firstFree(this.#rowOf);
    if (problem !== undefined) this.matches.set(row, { problem });
    else if (printer !== undefined) this.#take(row, printer, isOpen ? this.#noteOf(printer) : undefined);
    else this.#make(row, key, namesakes?.printers[0]);
  };

  /** Why a name does not say which printer is meant. */
  #doubt(key: string, { printers, free }: Namesakes): string | undefined {
    if (this.#spread.has(key))
      return `${printers.length} printers have this name: choose a client, or add the column “client”.`;
    return free > 1
      ? `${printers.length} printers of this client have this name: only “id” and “created” of an export tell them apart.`
      : undefined;
  }

  #noteOf({ client_id }: Printer): string | undefined {
    const client = client_id === null ? undefined : this.#clientNames.get(client_id);
    return client && `Is the only printer of this name, at “${client}”.`;
  }

  /** Two rows of one name are two printers only where they were two when they were exported. */
  #make(row: ImportRow, key: string, namesake: Printer | undefined): void {
    const earlier = namesake === undefined ? this.#making.get(key) : this.#rowOf.get(namesake.id);
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

  #take(row: ImportRow, printer: Printer, note?: string): void {
    this.matches.set(row, note === undefined ? { printer } : { printer, note });
    this.#rowOf.set(printer.id, row);
    for (const key of keysOf(printer)) {
      const namesakes = this.#namesakes.get(key);
      if (namesakes !== undefined) namesakes.free--;
    }
  }

  #placeOf(client: string): string {
    const clientKey = clientNameKey(cleanText(client));
    const known = this.#clients.get(clientKey);
    // A client that is yet to be made has no id: a name that is no number stands for it.
    return known === undefined && clientKey !== "" ? `new ${clientKey}` : String(known?.id ?? "");
  }
}

/** Instead of a client: at any, or at none. */
const anywhere = "*";

function nameOf({ values }: ImportRow): string {
  return cleanText(values.name ?? "");
}

function keyOf(place: string, name: string): string {
  return `${place}\n${name.toLowerCase()}`;
}

function keysOf({ client_id, name }: Printer): [string, string] {
  return [keyOf(String(client_id ?? ""), name), keyOf(anywhere, name)];
}
