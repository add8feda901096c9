import { chosenInf, type Driver } from "../drivers/driver.ts";
import type { AffectedPrinter } from "../drivers/driver-effects.ts";
import { isUniversal, modelFinder, needsModelChoice } from "../drivers/models.ts";
import type { PrinterChange } from "./change-effects.ts";

/** What a bulk change does, before it is done. */
export interface BulkPlan {
  /** Printers that change in the same way. `from` and `to` name their client, or their driver and model. */
  readonly pairs: readonly {
    readonly from: string;
    readonly to: string;
    readonly printers: readonly AffectedPrinter[];
  }[];
  /** The changed fields, by printer id. */
  readonly changes: ReadonlyMap<number, PrinterChange>;
  /** Identifies the plan. */
  readonly digest: string;
}

/** Printers that deploy the same model now, and the model of the other driver that replaces it. */
export interface MovePair {
  readonly model: string;
  /** Whether `model` belongs to the printers' driver for ARM64 machines. */
  readonly isArm64: boolean;
  readonly printers: readonly AffectedPrinter[];
  /** The model of the other driver; undefined if a user has to choose it. */
  readonly match: string | undefined;
}

/** The effect of moving a driver's printers to another driver. */
export interface MovePlan {
  readonly from: Driver;
  readonly to: Driver;
  readonly pairs: readonly MovePair[];
  /** Printers that keep `from` as their driver for ARM64, because `to` has no files for ARM64. */
  readonly keeping: readonly AffectedPrinter[];
  /** Identifies the plan: `movePrinters` refuses any other plan than the one that the user saw. */
  readonly digest: string;
}

/**
 * Returns a function that finds the model of `to` for a model of another driver: the model with the same name, else the
 * model of `to` if it is universal, else the only one. If the INF names no models, every name is accepted.
 */
export function modelMatcher(to: Driver): (model: string) => string | undefined {
  const inf = chosenInf(to);
  const names = inf?.descriptions ?? [];
  const find = modelFinder(inf);
  const [only = ""] = names.length === 1 ? names : [];
  const fallback = isUniversal(to.driver_desc) ? to.driver_desc : only;
  return (model) => {
    const found = names.length === 0 ? model || to.driver_desc : (find(model) ?? fallback);
    return found || undefined;
  };
}

/**
 * The `driver_desc` with which a printer deploys a model of a driver. It stays empty if it was empty, the model is the
 * driver's own, and no user has to choose it.
 * @param before the printer's `driver_desc` until now
 */
export function driverDescFor(driver: Driver, model: string, before: string): string {
  return before === "" && model === driver.driver_desc && !needsModelChoice(driver) ? "" : model;
}
