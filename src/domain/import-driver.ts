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

/** What a row says of a driver, and what its printer has. */
interface AskedDriver {
  /** What the driver is called in sentences. */
  readonly what: string;
  readonly hint: DriverHint | undefined;
  /** The printer's own model; undefined where the row says nothing of it. */
  readonly typed: string | undefined;
  /** Whether the row was exported from here. */
  readonly isExported: boolean;
  readonly current: DriverSummary | undefined;
  /** The model that the printer chose by itself; empty where it chose none. */
  readonly currentModel: string;
}

const names = { driver: "driver", arm64Driver: "driver for ARM64" } as const;
const models = { driver: "driver_desc", arm64Driver: "arm64_driver_desc" } as const;

/**
 * What a row says of one of its printer's drivers.
 * @param kind the first, or the one for ARM64 machines
 * @param current the one that the printer has
 */
export function askedDriver(
  kind: keyof typeof names,
  row: ImportRow,
  printer: Printer | undefined,
  current: DriverSummary | undefined,
): AskedDriver {
  const field = models[kind];
  return {
    what: names[kind],
    hint: row[kind],
    typed: row.values[field],
    isExported: row.origin !== undefined,
    current,
    currentModel: printer?.[field] ?? "",
  };
}

const nothing: DriverHint = { sha256: "", model: "", title: "", version: "" };

/** Finds the driver that a row names. One that is not here leaves a printer with the driver that it has. */
export function chooseDriver(asked: AskedDriver, drivers: KnownDrivers): DriverChoice {
  const { what, current, currentModel, typed, hint = nothing } = asked;
  const kept = typed ?? currentModel;
  if (namesNone(asked)) return { driver: asked.hint === undefined ? current : undefined, driver_desc: kept };
  const ownModel = cleanText(typed ?? "");
  const found = drivers.find(hint, ownModel, current?.id);
  if (found !== undefined && "problemIn" in found)
    return {
      driver: current,
      driver_desc: kept,
      problem: found.problemIn(what === "driver" ? "" : "arm64_"),
    };
  if (found !== undefined) return { ...found, driver_desc: deployed(found, asked), ...noteOf(found) };
  const missing = cleanText(ownModel || hint.model || hint.title || hint.sha256).slice(0, 200);
  const outcome = current === undefined ? "none is assigned" : "the printer keeps its own";
  const note = `The ${what} “${missing}” is not here: ${outcome}.`;
  return { driver: current, driver_desc: currentModel, note, missing };
}

/**
 * Whether a row names no driver. A model alone names one where a list is written by hand; an export says by it that
 * a printer has a model and no driver.
 */
function namesNone({ hint = nothing, typed = "", isExported }: AskedDriver): boolean {
  if (hint.sha256 + hint.model + hint.title !== "") return false;
  return cleanText(typed) === "" || (hint !== nothing && isExported);
}

/** The printer's own model; empty where the driver's is what is wanted. */
function deployed(
  { driver, description }: FoundDriver,
  { typed, current, currentModel }: AskedDriver,
): string {
  const own = current?.id === driver.id ? currentModel : "";
  const kept = typed ?? own;
  if (description === undefined) return kept;
  if (cleanText(typed ?? "") !== "") return description;
  return effectiveDescription({ driver_desc: kept }, driver) === description ? kept : description;
}

function noteOf({ driver, others }: FoundDriver): { note?: string } {
  if (others === 0) return {};
  const rest = others === 1 ? "another driver has" : `${others} other drivers have`;
  return { note: `Takes ${driverTitle(driver)}, the newest: ${rest} this model too.` };
}
