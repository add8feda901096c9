import { type DriverSummary, driverTitle } from "./driver.ts";
import { cleanText } from "./fields.ts";
import type { DriverHint, ImportRow } from "./import-row.ts";
import type { FoundDriver, KnownDrivers } from "./known-drivers.ts";
import { effectiveDescription, type Printer } from "./printer.ts";

/** What a row's driver comes to: the fields of its form, and what an operator should know of it. */
export interface DriverChoice {
  readonly driver: DriverSummary | undefined;
  readonly driver_desc: string;
  readonly note?: string;
  /** What a driver that is not here is called. */
  readonly missing?: string;
  /** Why the row cannot be taken. */
  readonly problem?: string;
}

const nothing: DriverHint = { sha256: "", model: "", title: "", version: "" };

/**
 * Finds the driver that a row names. One that is not here leaves a printer with the driver that it has.
 * @param current the driver of the row's printer
 */
export function chooseDriver(
  row: ImportRow,
  printer: Printer | undefined,
  current: DriverSummary | undefined,
  drivers: KnownDrivers,
): DriverChoice {
  const kept = row.values.driver_desc ?? printer?.driver_desc ?? "";
  if (namesNone(row)) return { driver: row.driver === undefined ? current : undefined, driver_desc: kept };
  const ownModel = cleanText(row.values.driver_desc ?? "");
  const hint = row.driver ?? nothing;
  const found = drivers.find(hint, ownModel, current?.id);
  if (found !== undefined && "problem" in found)
    return { driver: current, driver_desc: kept, problem: found.problem };
  if (found !== undefined) return { ...found, driver_desc: deployed(found, row, printer), ...noteOf(found) };
  const missing = cleanText(ownModel || hint.model || hint.title || hint.sha256).slice(0, 200);
  const outcome = current === undefined ? "none is assigned" : "the printer keeps its own";
  const note = `The driver “${missing}” is not here: ${outcome}.`;
  return { driver: current, driver_desc: printer?.driver_desc ?? "", note, missing };
}

/**
 * Whether a row names no driver. A model alone names one where a list is written by hand; an export says by it that
 * a printer has a model and no driver.
 */
function namesNone({ driver = nothing, values, origin }: ImportRow): boolean {
  if (driver.sha256 + driver.model + driver.title !== "") return false;
  return cleanText(values.driver_desc ?? "") === "" || (driver !== nothing && origin !== undefined);
}

/** The printer's own model; empty where the driver's is what is wanted. */
function deployed(
  { driver, description }: FoundDriver,
  { values }: ImportRow,
  printer: Printer | undefined,
): string {
  const own = printer?.driver_id === driver.id ? printer.driver_desc : "";
  const kept = values.driver_desc ?? own;
  if (description === undefined) return kept;
  if (cleanText(values.driver_desc ?? "") !== "") return description;
  return effectiveDescription({ driver_desc: kept }, driver) === description ? kept : description;
}

function noteOf({ driver, others }: FoundDriver): { note?: string } {
  if (others === 0) return {};
  const rest = others === 1 ? "another driver has" : `${others} other drivers have`;
  return { note: `Takes ${driverTitle(driver)}, the newest: ${rest} this model too.` };
}
