import { memoize } from "../collections.ts";
import { driverTitle } from "../drivers/driver.ts";
import { cleanText, type FormInput } from "../fields.ts";
import { foldText } from "../folding.ts";
import type { Client } from "./client.ts";
import { type FindingKind, findingKinds, type State, states } from "./findings.ts";
import { needsVendorDriver } from "./ipp-twin.ts";
import { type PrinterSort, parseSort } from "./list-order.ts";
import type { DriverWithState, PrinterWithState, WithState } from "./listings.ts";
import { effectiveDescription } from "./printer.ts";
import { arm64Description } from "./printer-drivers.ts";

/** In characters. The rest of a query is ignored, because each word is searched in every text. */
export const maxQuery = 200;

/** The filter of a list, which rows must match as a whole, and its order. */
export interface Narrowing {
  /** The search words as typed. */
  readonly q: string;
  /** `none`: rows without a client. Undefined: any. */
  readonly client: number | "none" | undefined;
  /** Undefined: any. */
  readonly state: WantedState | undefined;
  /** Undefined: by name, or the list's own order. */
  readonly sort?: PrinterSort | undefined;
}

/** A state, a kind of finding, or a state that only printers or only drivers have. */
export type WantedState = State | FindingKind | "changed" | "vendor-driver" | "newer" | "unused";

const commonStates = [...states, ...findingKinds] as const;

/** The states by which each list can be filtered. */
const statesOf: Readonly<Record<ListName, readonly WantedState[]>> = {
  /** `changed`: the revision is another one than that last deployed. `vendor-driver`: see `needsVendorDriver`. */
  printers: [...commonStates, "changed", "vendor-driver"],
  /** `newer`: in use, with a newer version in Platen. `unused`: without printers. */
  drivers: [...commonStates, "newer", "unused"],
  clients: [],
};

export type ListName = "printers" | "drivers" | "clients";

/** Reads the filter of a query. Invalid values, and values that the list does not support, are ignored. */
export function parseNarrowing(
  { q = "", client_id = "", state = "", sort = "" }: FormInput,
  list: ListName = "printers",
): Narrowing {
  return {
    q: cleanText(q.slice(0, maxQuery).replace(/\s/g, " ")),
    client: list === "clients" ? undefined : parseClientFilter(client_id),
    state: statesOf[list].find((known) => known === state),
    sort: list === "printers" ? parseSort(sort) : undefined,
  };
}

function parseClientFilter(id: string): Narrowing["client"] {
  if (id === "none") return id;
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : undefined;
}

export function isNarrowed({ q, client, state }: Narrowing): boolean {
  return q !== "" || client !== undefined || state !== undefined;
}

/** @returns the same array if the filter is empty */
export function narrowPrinters(
  rows: readonly PrinterWithState[],
  narrowing: Narrowing,
): readonly PrinterWithState[] {
  if (!isNarrowed(narrowing)) return rows;
  const { q, client, state } = narrowing;
  const hasWords = matcher(q);
  return rows.filter(
    (row) =>
      (client === undefined || client === (row.client?.id ?? "none")) &&
      isPrinterInState(row, state) &&
      hasWords(printerText(row)),
  );
}

/**
 * Filters by words, by the clients whose printers use a driver, and by state.
 * @param models by driver id, a model that matches the words: these drivers match too
 * @returns the same array if the filter is empty
 */
export function narrowDrivers(
  rows: readonly DriverWithState[],
  narrowing: Narrowing,
  models: ReadonlyMap<number, string> = new Map(),
): readonly DriverWithState[] {
  if (!isNarrowed(narrowing)) return rows;
  const { q, client, state } = narrowing;
  const hasWords = matcher(q);
  const isFound = (row: DriverWithState) => models.has(row.id) || hasWords(driverText(row));
  return rows.filter(
    (row) => (client === undefined || row.clients.has(client)) && isDriverInState(row, state) && isFound(row),
  );
}

export interface ModelName {
  readonly name: string;
  /** The name as `findModel` compares it. */
  readonly folded: string;
}

export function modelNames(models: readonly string[]): ModelName[] {
  return models.map((model) => {
    const name = cleanText(model);
    return { name, folded: foldText(name) };
  });
}

/** The words of a query that do not occur in the driver's own text, but may occur in its models. */
export function missingWords(row: DriverWithState, query: string): string[] {
  const text = driverText(row);
  return wordsOf(query).filter((word) => !text.includes(word));
}

/** The first model that has all of these words. */
export function findModel(names: readonly ModelName[], words: readonly string[]): string | undefined {
  return names.find(({ folded }) => words.every((word) => folded.includes(word)))?.name;
}

function isPrinterInState(row: PrinterWithState, wanted: WantedState | undefined): boolean {
  if (wanted === "changed") return row.changed;
  if (wanted === "vendor-driver") return needsVendorDriver(row);
  return isInState(row, wanted);
}

function isDriverInState(row: DriverWithState, wanted: WantedState | undefined): boolean {
  if (wanted === "unused") return row.printer_count === 0;
  if (wanted === "newer") return row.newer !== undefined;
  return isInState(row, wanted);
}

/** Searches the name and the notes. */
export function narrowClients<T extends Pick<Client, "name" | "notes">>(
  rows: readonly T[],
  { q }: Pick<Narrowing, "q">,
): readonly T[] {
  const hasWords = matcher(q);
  return rows.filter(({ name, notes }) => hasWords(foldText(`${name}\n${notes}`)));
}

function isInState({ state, findings }: WithState, wanted: WantedState | undefined): boolean {
  if (wanted === undefined || wanted === state) return true;
  return findings.some(({ kind }) => kind === wanted);
}

/** Returns a function that tells whether a folded text contains every word of a query. */
function matcher(query: string): (text: string) => boolean {
  const words = wordsOf(query);
  return (text) => words.every((word) => text.includes(word));
}

/** The words of a query, the longest first: it rules out the most texts. */
function wordsOf(query: string): string[] {
  const words = [...new Set(foldText(query.slice(0, maxQuery)).split(/\s+/))].filter(Boolean);
  return words.sort((a, b) => b.length - a.length);
}

// Rows stay the same objects until a record changes, so the text of each is made once. Each field has its own line, so
// that no word matches across two fields.

const printerText = memoize(({ printer, client, driver, arm64Driver }: PrinterWithState) => {
  const { name, address, port_name, location } = printer;
  const main = driver && [effectiveDescription(printer, driver), driverTitle(driver), driver.file_name];
  const arm64 = arm64Driver && [
    arm64Description(printer, arm64Driver),
    driverTitle(arm64Driver),
    arm64Driver.file_name,
  ];
  const drivers = [...(main ?? [printer.driver_desc]), ...(arm64 ?? [])];
  return foldText([name, address, port_name, location, client?.name ?? "", ...drivers].join("\n"));
});

const driverText = memoize((driver: DriverWithState) => {
  const { file_name, driver_desc, inf_path, comment, listed } = driver;
  const version = [listed?.provider ?? "", listed?.driverVer?.version ?? ""];
  return foldText([driverTitle(driver), file_name, driver_desc, inf_path, comment, ...version].join("\n"));
});
