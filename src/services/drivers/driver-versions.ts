import { RecentMap } from "../../domain/collections.ts";
import { chosenInf, type Driver, type DriverSummary } from "../../domain/drivers/driver.ts";
import { newerVersions, olderVersions } from "../../domain/drivers/driver-version.ts";
import { isUniversal, modelFinder } from "../../domain/drivers/models.ts";
import type { ListedDriver } from "../../domain/printers/listings.ts";
import type { Store } from "../../store/store.ts";

// Vendors give one INF name to drivers that have nothing else in common: one is a version of another where it has a
// model that the other's printers use.

/** Of more versions than this nobody is told: each costs reading its report. */
const maxVersions = 4;
/** Pairs of drivers that were compared. */
const maxRemembered = 1000;

/** Which drivers that printers use have another version here. What was compared once is remembered. */
export class DriverVersions {
  readonly #drivers: Pick<Store["drivers"], "chosenModels" | "get" | "list">;
  readonly #known = new RecentMap<string, boolean>(maxRemembered);

  constructor({ drivers }: { readonly drivers: Pick<Store["drivers"], "chosenModels" | "get" | "list"> }) {
    this.#drivers = drivers;
  }

  /** The newest version of a driver that has a model which its printers deploy. @param drivers all that were uploaded */
  newerThan<T extends DriverSummary>(driver: DriverSummary, drivers: readonly T[]): T | undefined {
    const candidates = newerVersions(driver, drivers).slice(0, maxVersions);
    if (candidates.length === 0) return undefined;
    const models = this.#modelsUsed(driver);
    return candidates.find((candidate) => this.#serves(candidate, models));
  }

  /** Older versions of a driver that printers use, of whose models it has some, the newest first. */
  olderThan(driver: DriverSummary): ListedDriver[] {
    const used = this.#drivers.list().filter(({ printer_count }) => printer_count > 0);
    const candidates = olderVersions(driver, used).slice(0, maxVersions);
    return candidates.filter((candidate) => this.#serves(driver, this.#modelsUsed(candidate)));
  }

  /** The models that a driver's printers deploy. */
  #modelsUsed({ id, driver_desc }: DriverSummary): readonly string[] {
    return [...new Set(this.#drivers.chosenModels(id).map((model) => model || driver_desc))].sort();
  }

  /** Whether a driver has any of these models. */
  #serves({ id, sha256, inf_path, driver_desc }: DriverSummary, models: readonly string[]): boolean {
    if (models.length === 0) return false;
    const key = [sha256, inf_path, driver_desc, ...models].join("\n");
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const serves = servesAny(this.#drivers.get(id), models);
    this.#known.set(key, serves);
    return serves;
  }
}

function servesAny(driver: Driver, models: readonly string[]): boolean {
  const find = modelFinder(chosenInf(driver));
  const isForAll = isUniversal(driver.driver_desc);
  return models.some((model) => find(model) !== undefined || (isForAll && isUniversal(model)));
}
