import { createHash } from "node:crypto";
import { modelsOf } from "../domain/arm64-driver.ts";
import { chosenInf, type Driver, type DriverSummary } from "../domain/driver.ts";
import { DriverVersions } from "../domain/driver-order.ts";
import type { ListedDriver, ListedPrinter } from "../domain/listings.ts";
import { isUniversal, modelFinder } from "../domain/models.ts";
import type { Store } from "../store/store.ts";
import { Latest } from "./latest.ts";

// Vendors give one INF name to drivers that have nothing else in common: one is a version of another where it has a
// model that the other's printers use.

/** Of more versions than this nobody is told: each costs reading its report. */
const mostVersions = 4;
/** Pairs of drivers that were compared. */
const mostRemembered = 10_000;

/** Which drivers that printers use have a newer version here. What was compared once is remembered. */
export class NewerVersions {
  readonly #store: Store;
  readonly #known = new Latest<string, boolean>(mostRemembered);

  constructor(store: Store) {
    this.#store = store;
  }

  /** @returns the newest version of each driver that has one, by the older one's id */
  *among<T extends ListedDriver>(
    drivers: readonly T[],
    printers: readonly ListedPrinter[],
  ): Generator<undefined, ReadonlyMap<number, T>> {
    const versions = new DriverVersions(drivers);
    const used = modelsByDriver(printers);
    const found = new Map<number, T>();
    for (const driver of drivers) {
      if (driver.printer_count === 0) continue;
      const newer = yield* this.#newest(used.get(driver.id) ?? new Set(), first(versions.newerOf(driver)));
      if (newer !== undefined) found.set(driver.id, newer);
    }
    return found;
  }

  /** The first of these that has one of the models. */
  *#newest<T extends DriverSummary>(
    models: ReadonlySet<string>,
    candidates: readonly T[],
  ): Generator<undefined, T | undefined> {
    if (candidates.length === 0) return undefined;
    const usedKey = createHash("sha256")
      .update(JSON.stringify([...models].sort()))
      .digest("base64");
    for (const candidate of candidates) {
      const { sha256, inf_path, driver_desc } = candidate;
      const key = [sha256, inf_path, driver_desc, usedKey].join("\n");
      if (this.#known.get(key) ?? (yield* this.#compare(key, candidate.id, models))) return candidate;
    }
    return undefined;
  }

  *#compare(key: string, id: number, models: ReadonlySet<string>): Generator<undefined, boolean> {
    // A report may be large: others have their turn between two of them.
    yield;
    const driver = this.#store.drivers.find(id);
    if (driver === undefined) return false;
    const [serves = false] = servesAny(driver, [models]);
    this.#known.set(key, serves);
    return serves;
  }
}

/** The models that a driver's printers deploy. */
function modelsByDriver(printers: readonly ListedPrinter[]): Map<number, Set<string>> {
  const found = new Map<number, Set<string>>();
  const add = (driver: DriverSummary | undefined, own: string) => {
    if (driver === undefined) return;
    const model = own || driver.driver_desc;
    const models = found.get(driver.id);
    if (models === undefined) found.set(driver.id, new Set([model]));
    else models.add(model);
  };
  for (const { printer, driver, arm64Driver } of printers) {
    add(driver, printer.driver_desc);
    add(arm64Driver, printer.arm64_driver_desc);
  }
  return found;
}

/** Older versions of a driver that printers use, of whose models it has some, the newest first. */
export function olderVersions<T extends ListedDriver>(
  store: Store,
  driver: Driver,
  drivers: readonly T[],
): T[] {
  const versions = new DriverVersions(drivers.filter(({ printer_count }) => printer_count > 0));
  const older = first(versions.olderOf(driver));
  const served = servesAny(
    driver,
    older.map((other) => usedModels(store, other)),
  );
  return older.filter((_, i) => served[i]);
}

function usedModels({ printers }: Store, { id, driver_desc }: DriverSummary): ReadonlySet<string> {
  const using = printers.models(printers.idsOfDriver(id));
  return new Set(using.flatMap((printer) => modelsOf(id, printer)).map((model) => model || driver_desc));
}

function first<T>(found: Iterable<T>): T[] {
  const some: T[] = [];
  for (const one of found) {
    some.push(one);
    if (some.length === mostVersions) break;
  }
  return some;
}

/** Of each of these sets of models, whether the driver has any. */
function servesAny(driver: Driver, used: readonly ReadonlySet<string>[]): boolean[] {
  const find = modelFinder(chosenInf(driver));
  const isForAll = isUniversal(driver.driver_desc);
  const serves = (model: string) => find(model) !== undefined || (isForAll && isUniversal(model));
  return used.map((models) => [...models].some(serves));
}
