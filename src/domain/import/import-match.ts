import { addTo, getOrAdd } from "../collections.ts";
import { cleanText } from "../fields.ts";
import type { ClientName } from "../printers/listings.ts";
import type { Printer } from "../printers/printer.ts";
import { nameKey } from "../text.ts";
import type { ImportRow } from "./import-row.ts";

/** The printer that a row describes, or why it is not clear. A row without a match makes a new printer. */
export type RowMatch =
  | { readonly printer: Printer; readonly problem?: undefined; readonly remark?: string | undefined }
  | { readonly problem: string; readonly printer?: undefined; readonly remark?: undefined };

/** The records that rows are compared with. */
interface MatchContext {
  readonly printers: readonly Printer[];
  /** By `nameKey`. */
  readonly clients: ReadonlyMap<string, ClientName>;
  /** The client of rows that name none; empty for no client. */
  readonly client: string;
}

/**
 * Finds the printer of each row: the printer that the row was exported from, else the printer with its name at its
 * client; case does not matter. If neither the row nor `context` names a client, it is the only printer with the name at
 * any client. A row that was copied in a spreadsheet and renamed makes a new printer.
 */
export function matchRows(rows: readonly ImportRow[], context: MatchContext): Map<ImportRow, RowMatch> {
  const matcher = new Matcher(rows, context);
  for (const pass of [matcher.byOriginAndName, matcher.byOrigin, matcher.byName]) {
    for (const row of rows) if (!matcher.matches.has(row)) pass(row);
  }
  return matcher.matches;
}

/** Printers with the same name, at one client or at all clients. */
interface Namesakes {
  count: number;
  readonly clients: Set<number | null>;
  /** The printers for which no row was found yet. */
  readonly unmatched: Set<Printer>;
}

class Matcher {
  readonly matches = new Map<ImportRow, RowMatch>();
  readonly #context: MatchContext;
  readonly #clientNames: ReadonlyMap<number, string>;
  readonly #byId: ReadonlyMap<number, Printer>;
  /** By client and name, and by name alone; see `keysOf`. */
  readonly #namesakes = new Map<string, Namesakes>();
  /** Rows by the id of the printer that they were exported from. */
  readonly #exported = new Map<number, ImportRow[]>();
  /** The first row for each key. */
  readonly #firstRows = new Map<string, ImportRow>();
  readonly #matched = new Set<Printer>();

  constructor(rows: readonly ImportRow[], context: MatchContext) {
    this.#context = context;
    this.#clientNames = new Map([...context.clients.values()].map(({ id, name }) => [id, name]));
    this.#byId = new Map(context.printers.map((printer) => [printer.id, printer]));
    for (const printer of context.printers) {
      for (const key of keysOf(printer)) {
        const make = (): Namesakes => ({ count: 0, clients: new Set(), unmatched: new Set() });
        const namesakes = getOrAdd(this.#namesakes, key, make);
        namesakes.count++;
        namesakes.clients.add(printer.client_id);
        namesakes.unmatched.add(printer);
      }
    }
    for (const row of rows) if (row.origin !== undefined) addTo(this.#exported, row.origin.id, row);
  }

  readonly byOriginAndName = (row: ImportRow): void => {
    const printer = this.#originOf(row);
    if (printer === undefined) return;
    const clientPart = row.client === undefined ? anyClient : this.#clientPart(row.client);
    if (keysOf(printer).includes(keyOf(clientPart, nameOf(row)))) this.#match(row, printer);
  };

  readonly byOrigin = (row: ImportRow): void => {
    const printer = this.#originOf(row);
    if (printer !== undefined) this.#match(row, printer);
  };

  readonly byName = (row: ImportRow): void => {
    const client = row.client ?? this.#context.client;
    const isAnyClient = row.client === undefined && cleanText(client) === "";
    const key = keyOf(isAnyClient ? anyClient : this.#clientPart(client), nameOf(row));
    const namesakes = this.#namesakes.get(key);
    const problem = namesakes && ambiguityOf(namesakes);
    const [printer] = namesakes?.unmatched ?? [];
    if (problem !== undefined) this.matches.set(row, { problem });
    else if (printer !== undefined)
      this.#match(row, printer, isAnyClient ? this.#onlyPrinterRemark(printer) : undefined);
    else this.#matchNew(row, key);
  };

  #onlyPrinterRemark({ client_id }: Printer): string | undefined {
    const client = this.#clientNames.get(client_id ?? 0);
    return client && `Updates the only printer with this name, at “${client}”.`;
  }

  /** The second of two rows with the same name is wrong, unless it was exported from another printer. */
  #matchNew(row: ImportRow, key: string): void {
    const earlier = this.#firstRows.get(key);
    const isOnlyCopy = row.origin !== undefined && this.#exported.get(row.origin.id)?.length === 1;
    if (earlier === undefined || isOnlyCopy) getOrAdd(this.#firstRows, key, () => row);
    else {
      const problem = `Row ${earlier.number} has the same name and client.`;
      this.matches.set(row, { problem });
    }
  }

  /**
   * The printer that a row was exported from, unless another row has it. The creation time must agree: the same id may
   * come from another Platen.
   */
  #originOf({ origin }: ImportRow): Printer | undefined {
    const printer = origin && this.#byId.get(origin.id);
    const isOrigin = printer?.created_at === origin?.created_at;
    return printer && isOrigin && !this.#matched.has(printer) ? printer : undefined;
  }

  #match(row: ImportRow, printer: Printer, remark?: string): void {
    this.matches.set(row, { printer, remark });
    this.#matched.add(printer);
    for (const key of keysOf(printer)) {
      this.#namesakes.get(key)?.unmatched.delete(printer);
      getOrAdd(this.#firstRows, key, () => row);
    }
  }

  #clientPart(client: string): string {
    const clientKey = nameKey(cleanText(client));
    const known = this.#context.clients.get(clientKey);
    // A client to be created has no id yet; its key replaces it.
    return known === undefined && clientKey !== "" ? `new ${clientKey}` : String(known?.id ?? "");
  }
}

/** Why a name does not identify a printer; undefined if it does. */
function ambiguityOf({ count, clients, unmatched }: Namesakes): string | undefined {
  if (clients.size > 1)
    return `${count} printers have this name. Choose a client, or add the column “client”.`;
  if (unmatched.size < 2) return undefined;
  return `${count} printers of this client have this name. Add the columns “id” and “created” from an export.`;
}

/** Replaces the client id in keys for a name at any client. */
const anyClient = "*";

function nameOf({ values }: ImportRow): string {
  return cleanText(values.name ?? "");
}

function keyOf(clientPart: string, name: string): string {
  return `${clientPart}\n${name.toLowerCase()}`;
}

function keysOf({ client_id, name }: Printer): [string, string] {
  return [keyOf(String(client_id ?? ""), name), keyOf(anyClient, name)];
}
