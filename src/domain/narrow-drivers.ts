import { driverTitle } from "./driver.ts";
import type { StatedDriver } from "./listings.ts";

/** What a list of drivers is narrowed to: what matches all of it is shown. */
export interface DriverNarrowing {
  /** Words, as they were typed. */
  readonly q: string;
  /** A state, what a finding is about, `newer` or `unused`; empty is any. */
  readonly state: string;
}

/** More of a query is not looked at. */
const mostCharacters = 200;
const mostWords = 8;

/** Drivers that have all of the words, and are in the state. */
export function narrowDrivers(
  rows: readonly StatedDriver[],
  { q, state }: DriverNarrowing,
): readonly StatedDriver[] {
  const words = q.slice(0, mostCharacters).toLowerCase().split(/\s+/).filter(Boolean).slice(0, mostWords);
  if (words.length === 0 && state === "") return rows;
  return rows.filter((row) => isInState(row, state) && hasWords(row, words));
}

function isInState(row: StatedDriver, wanted: string): boolean {
  if (wanted === "" || wanted === row.state) return true;
  if (wanted === "unused") return row.printer_count === 0;
  if (wanted === "newer") return row.newer !== undefined && row.printer_count > 0;
  return row.findings.some(({ kind }) => kind === wanted);
}

function hasWords(driver: StatedDriver, words: readonly string[]): boolean {
  const { file_name, driver_desc, inf_path, comment, listed } = driver;
  const of = [listed?.provider ?? "", listed?.driverVer?.version ?? ""];
  const text = [driverTitle(driver), file_name, driver_desc, inf_path, comment, ...of]
    .join("\n")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}
