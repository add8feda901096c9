import { memoize } from "../collections.ts";
import { driverTitle } from "../drivers/driver.ts";
import { cleanText, type FormInput } from "../fields.ts";
import { arm64Description } from "./arm64-driver.ts";
import type { Client } from "./client.ts";
import { type FindingKind, findingKinds, type State, states } from "./findings.ts";
import type { Stated, StatedDriver, StatedPrinter } from "./listings.ts";
import { effectiveDescription } from "./printer.ts";

/** More of a query is not looked at: each word is sought in every text. */
export const maxQuery = 200;

/** What a list is narrowed to: what matches all of it is shown. */
export interface Narrowing {
  /** Words, as they were typed. */
  readonly q: string;
  /** `none` are those without a client; undefined is any. */
  readonly client: number | "none" | undefined;
  /** Undefined is any. */
  readonly state: WantedState | undefined;
}

/** A state, what a finding is about, or what only printers or only drivers can be. */
export type WantedState = State | FindingKind | "changed" | "newer" | "unused";

const common = [...states, ...findingKinds] as const;

/** The lists that can be narrowed, each with the states that its rows can be in. */
const statesOf: Readonly<Record<ListName, readonly WantedState[]>> = {
  /** Besides: downloaded, and changed since. */
  printers: [...common, "changed"],
  /** Besides: used where a newer version is here, or used by no printer. */
  drivers: [...common, "newer", "unused"],
  clients: [],
};

export type ListName = "printers" | "drivers" | "clients";

/** What an address says; what it says wrongly, or of what the rows of the list do not have, narrows nothing. */
export function parseNarrowing(
  { q = "", client_id = "", state = "" }: FormInput,
  list: ListName = "printers",
): Narrowing {
  return {
    q: cleanText(q.slice(0, maxQuery).replace(/\s/g, " ")),
    client: list === "clients" ? undefined : wantedClient(client_id),
    state: statesOf[list].find((one) => one === state),
  };
}

function wantedClient(id: string): Narrowing["client"] {
  if (id === "none") return id;
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : undefined;
}

export function isNarrowed({ q, client, state }: Narrowing): boolean {
  return q !== "" || client !== undefined || state !== undefined;
}

/** @returns the same rows where nothing is narrowed */
export function narrowPrinters(
  rows: readonly StatedPrinter[],
  narrowing: Narrowing,
): readonly StatedPrinter[] {
  if (!isNarrowed(narrowing)) return rows;
  const { q, client, state } = narrowing;
  const hasWords = matcher(q);
  return rows.filter(
    (row) =>
      (client === undefined || client === (row.client?.id ?? "none")) &&
      (state === "changed" ? row.changed : isInState(row, state)) &&
      hasWords(printerText(row)),
  );
}

/**
 * By words, by the clients whose printers use a driver, and by state.
 * @param models those that a search found, by the driver's id: these drivers have the words
 * @returns the same rows where nothing is narrowed
 */
export function narrowDrivers(
  rows: readonly StatedDriver[],
  narrowing: Narrowing,
  models: ReadonlyMap<number, string> = new Map(),
): readonly StatedDriver[] {
  if (!isNarrowed(narrowing)) return rows;
  const { q, client, state } = narrowing;
  const hasWords = matcher(q);
  const isFound = (row: StatedDriver) => models.has(row.id) || hasWords(driverText(row));
  return rows.filter(
    (row) => (client === undefined || row.clients.has(client)) && isDriverInState(row, state) && isFound(row),
  );
}

/** A model's name as it is and as it is compared. */
export interface ModelName {
  readonly name: string;
  readonly folded: string;
}

export function modelNames(models: readonly string[]): ModelName[] {
  return models.map((model) => {
    const name = cleanText(model);
    return { name, folded: folded(name) };
  });
}

/** The words of a query that nothing says of the driver besides its models. */
export function missingWords(row: StatedDriver, query: string): string[] {
  const text = driverText(row);
  return wordsOf(query).filter((word) => !text.includes(word));
}

/** The first model that has all of these words. */
export function findModel(names: readonly ModelName[], words: readonly string[]): string | undefined {
  return names.find((one) => words.every((word) => one.folded.includes(word)))?.name;
}

function isDriverInState(row: StatedDriver, wanted: WantedState | undefined): boolean {
  if (wanted === "unused") return row.printer_count === 0;
  if (wanted === "newer") return row.newer !== undefined;
  return isInState(row, wanted);
}

/** By words, in the name and the notes. */
export function narrowClients<T extends Pick<Client, "name" | "notes">>(
  rows: readonly T[],
  { q }: Pick<Narrowing, "q">,
): readonly T[] {
  const hasWords = matcher(q);
  return rows.filter(({ name, notes }) => hasWords(folded(`${name}\n${notes}`)));
}

function isInState({ state, findings }: Stated, wanted: WantedState | undefined): boolean {
  if (wanted === undefined || wanted === state) return true;
  return findings.some(({ kind }) => kind === wanted);
}

/** Whether a text, which is folded, has every word of a query. */
function matcher(query: string): (text: string) => boolean {
  const words = wordsOf(query);
  return (text) => words.every((word) => text.includes(word));
}

/** The longest first: it is the one that most texts do not have. */
function wordsOf(query: string): string[] {
  const words = [...new Set(folded(query.slice(0, maxQuery)).split(/\s+/))].filter(Boolean);
  return words.sort((a, b) => b.length - a.length);
}

const plain = /^[\n\x20-\x7e]*$/;

/** As texts are compared: without case, and without accents and other marks. */
function folded(text: string): string {
  if (plain.test(text)) return text.toLowerCase();
  const letters = cleanText(text, true)
    .normalize("NFD")
    .replace(/\p{M}+/gu, "");
  // By way of capitals, so that ß is ss.
  return letters.toUpperCase().toLowerCase();
}

// Rows stay the same objects until something changes: each is folded once. Texts stand on lines of their own, so that no
// word is found across two of them.

const printerText = memoize(({ printer, client, driver, arm64Driver }: StatedPrinter) => {
  const { name, address, port_name, location } = printer;
  const of = driver && [effectiveDescription(printer, driver), driverTitle(driver), driver.file_name];
  const arm64 = arm64Driver && [
    arm64Description(printer, arm64Driver),
    driverTitle(arm64Driver),
    arm64Driver.file_name,
  ];
  const drivers = [...(of ?? [printer.driver_desc]), ...(arm64 ?? [])];
  return folded([name, address, port_name, location, client?.name ?? "", ...drivers].join("\n"));
});

const driverText = memoize((driver: StatedDriver) => {
  const { file_name, driver_desc, inf_path, comment, listed } = driver;
  const of = [listed?.provider ?? "", listed?.driverVer?.version ?? ""];
  return folded([driverTitle(driver), file_name, driver_desc, inf_path, comment, ...of].join("\n"));
});
