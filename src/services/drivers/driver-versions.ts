import { getOrAdd, RecentMap } from "../../domain/collections.ts";
import { chosenInf, type Driver, type DriverSummary } from "../../domain/drivers/driver.ts";
import { newerVersions, olderVersions } from "../../domain/drivers/driver-version.ts";
import { isUniversal, modelFinder } from "../../domain/drivers/models.ts";
import type { ListedDriver } from "../../domain/printers/listings.ts";
import type { Store } from "../../store/store.ts";

// Vendors reuse an INF name for unrelated drivers. So a driver counts as a version of another one only if it has a
// model that the other one's printers use.

/** The maximum number of versions to compare, because each comparison reads a large report. */
const maxCandidates = 4;
const maxCachedPairs = 1000;

/** Finds other versions of the drivers that printers use. It caches comparisons. */
export class DriverVersions {
  readonly #drivers: Pick<Store["drivers"], "chosenModels" | "get" | "list">;
  readonly #cache = new RecentMap<string, boolean>(maxCachedPairs);

  constructor({ drivers }: { readonly drivers: Pick<Store["drivers"], "chosenModels" | "get" | "list"> }) {
    this.#drivers = drivers;
  }

  /** The newest later version with a model that the driver's printers deploy. @param drivers all uploaded drivers */
  newerThan<T extends DriverSummary>(driver: DriverSummary, drivers: readonly T[]): T | undefined {
    const candidates = newerVersions(driver, drivers).slice(0, maxCandidates);
    if (candidates.length === 0) return undefined;
    const models = this.#modelsUsed(driver);
    return candidates.find((candidate) => this.#hasAnyModel(candidate, models));
  }

  /** Older versions that printers use, with a model that the driver has too; the newest first. */
  olderThan(driver: DriverSummary): ListedDriver[] {
    const used = this.#drivers.list().filter(({ printer_count }) => printer_count > 0);
    const candidates = olderVersions(driver, used).slice(0, maxCandidates);
    return candidates.filter((candidate) => this.#hasAnyModel(driver, this.#modelsUsed(candidate)));
  }

  #modelsUsed({ id, driver_desc }: DriverSummary): readonly string[] {
    return [...new Set(this.#drivers.chosenModels(id).map((model) => model || driver_desc))].sort();
  }

  #hasAnyModel({ id, sha256, inf_path, driver_desc }: DriverSummary, models: readonly string[]): boolean {
    if (models.length === 0) return false;
    const key = [sha256, inf_path, driver_desc, ...models].join("\n");
    return getOrAdd(this.#cache, key, () => hasAnyModel(this.#drivers.get(id), models));
  }
}

function hasAnyModel(driver: Driver, models: readonly string[]): boolean {
  const find = modelFinder(chosenInf(driver));
  const isForAll = isUniversal(driver.driver_desc);
  return models.some((model) => find(model) !== undefined || (isForAll && isUniversal(model)));
}
