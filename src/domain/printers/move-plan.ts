import { chosenInf, type Driver } from "../drivers/driver.ts";
import type { AffectedPrinter } from "../drivers/driver-effects.ts";
import { isUnchosen, isUniversal, modelFinder } from "../drivers/models.ts";

/** Printers that deploy the same model now, and the one that they get from the other driver. */
export interface MovePair {
  readonly model: string;
  /** Whether they deploy it on ARM64 machines alone, where they have another driver for the others. */
  readonly isArm64: boolean;
  readonly printers: readonly AffectedPrinter[];
  /** The model of the other driver; undefined where it has to be chosen. */
  readonly match: string | undefined;
}

/** What moving a driver's printers to another driver does. */
export interface MovePlan {
  readonly from: Driver;
  readonly to: Driver;
  readonly pairs: readonly MovePair[];
  /** Those that keep the driver for ARM64, which the other one has no files for. */
  readonly keeping: readonly AffectedPrinter[];
  /** Names this plan: a person agrees to no other. */
  readonly digest: string;
}

/**
 * Finds a driver's model for one of another driver: by its name, else the name for all devices, or the only one that
 * there is. Where its INF names no model, any name will do.
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
 * What a printer chooses by itself so that it deploys a model of a driver: nothing, where it chose nothing before and
 * the model is the driver's own, which somebody chose.
 */
export function ownChoice(driver: Driver, model: string, before: string): string {
  return before === "" && model === driver.driver_desc && !isUnchosen(driver) ? "" : model;
}
