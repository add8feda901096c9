import { addTo } from "../collections.ts";
import { cleanText } from "../fields.ts";
import { clientNameKey } from "../printers/client.ts";
import type { ClientName } from "../printers/listings.ts";
import type { Printer } from "../printers/printer.ts";
import type { ImportRow } from "./import-row.ts";

/** Which printer a row is; a row that is in no match makes one. */
export type RowMatch =
  | { readonly printer: Printer; readonly problem?: undefined; readonly note?: string | undefined }
  | { readonly problem: string; readonly printer?: undefined; readonly note?: undefined };

/** What rows are compared with. */
interface Here {
  readonly printers: readonly Printer[];
  /** By the keys of their names. */
  readonly clients: ReadonlyMap<string, ClientName>;
  /** The client of rows that say nothing of one; empty is none. */
  readonly client: string;
}

/**
 * Finds the printer of each row. A row is the printer that it was exported from; else the printer of its name at its
 * client, whatever their case. A row that says nothing of a client, and has none from elsewhere, is the printer of its
 * name wherever that is the only one. A row that was copied in a spreadsheet and got another name makes a printer.
 */
export function matchRows(rows: readonly ImportRow[], here: Here): Map<ImportRow, RowMatch> {
  const matcher = new Matcher(rows, here);
  for (const pass of [matcher.byOriginAndName, matcher.byOrigin, matcher.byName]) {
    for (const row of rows) if (!matcher.matches.has(row)) pass(row);
  }
  return matcher.matches;
}

/** Printers of one name, at one client or anywhere. */
interface Namesakes {
  count: number;
  readonly clients: Set<number | null>;
  /** Those that are no row's yet. */
  readonly free: Set<Printer>;
}

class Matcher {
  readonly matches = new Map<ImportRow, RowMatch>();
  readonly #here: Here;
  readonly #clientNames: ReadonlyMap<number, string>;
  readonly #byId: ReadonlyMap<number, Printer>;
  /** By client and name, and by the name alone. */
  readonly #namesakes = new Map<string, Namesakes>();
  /** The rows that say that they were exported from a printer, by its id. */
  readonly #exported = new Map<number, ImportRow[]>();
  /** The first row that is, or makes, a printer of a name. */
  readonly #first = new Map<string, ImportRow>();
  readonly #taken = new Set<Printer>();

  constructor(rows: readonly ImportRow[], here: Here) {
    this.#here = here;
    this.#clientNames = new Map([...here.clients.values()].map(({ id, name }) => [id, name]));
    this.#byId = new Map(here.printers.map((printer) => [printer.id, printer]));
    for (const printer of here.printers) {
      for (const key of keysOf(printer)) {
        const namesakes = this.#namesakes.get(key) ?? { count: 0, clients: new Set(), free: new Set() };
        namesakes.count++;
        namesakes.clients.add(printer.client_id);
        namesakes.free.add(printer);
        this.#namesakes.set(key, namesakes);
      }
    }
    for (const row of rows) if (row.origin !== undefined) addTo(this.#exported, row.origin.id, row);
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
    const client = row.client ?? this.#here.client;
    const isOpen = row.client === undefined && cleanText(client) === "";
    const key = keyOf(isOpen ? anywhere : this.#placeOf(client), nameOf(row));
    const namesakes = this.#namesakes.get(key);
    const problem = namesakes && doubtOf(namesakes);
    const [printer] = namesakes?.free ?? [];
    if (problem !== undefined) this.matches.set(row, { problem });
    else if (printer !== undefined) this.#take(row, printer, isOpen ? this.#noteOf(printer) : undefined);
    else this.#make(row, key);
  };

  #noteOf({ client_id }: Printer): string | undefined {
    const client = this.#clientNames.get(client_id ?? 0);
    return client && `Is the only printer of this name, at “${client}”.`;
  }

  /** Two rows of one name are two printers only where they were two when they were exported. */
  #make(row: ImportRow, key: string): void {
    const earlier = this.#first.get(key);
    const isOwn = row.origin !== undefined && this.#exported.get(row.origin.id)?.length === 1;
    if (earlier === undefined || isOwn) this.#note(key, row);
    else {
      const problem = `Row ${earlier.number} is a printer of the same name at the same client.`;
      this.matches.set(row, { problem });
    }
  }

  /** The printer that a row was exported from, unless another row is it: an id alone may come from another Platen. */
  #originOf({ origin }: ImportRow): Printer | undefined {
    const printer = origin && this.#byId.get(origin.id);
    const isOrigin = printer?.created_at === origin?.created_at;
    return printer && isOrigin && !this.#taken.has(printer) ? printer : undefined;
  }

  #take(row: ImportRow, printer: Printer, note?: string): void {
    this.matches.set(row, { printer, note });
    this.#taken.add(printer);
    for (const key of keysOf(printer)) {
      this.#namesakes.get(key)?.free.delete(printer);
      this.#note(key, row);
    }
  }

  #note(key: string, row: ImportRow): void {
    if (!this.#first.has(key)) this.#first.set(key, row);
  }

  #placeOf(client: string): string {
    const clientKey = clientNameKey(cleanText(client));
    const known = this.#here.clients.get(clientKey);
    // A client that is yet to be made has no id: a name that is no number stands for it.
    return known === undefined && clientKey !== "" ? `new ${clientKey}` : String(known?.id ?? "");
  }
}

/** Why a name does not say which printer is meant. */
function doubtOf({ count, clients, free }: Namesakes): string | undefined {
  if (clients.size > 1)
    return `${count} printers have this name: choose a client, or add the column “client”.`;
  if (free.size < 2) return undefined;
  return `${count} printers of this client have this name: only “id” and “created” of an export tell them apart.`;
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
