import type { DriverSummary } from "../domain/driver.ts";
import type { ListedPrinter } from "../domain/listings.ts";
import type { Printer } from "../domain/printer.ts";
import { revisionsWith } from "../pkg/scripts/revision.ts";
import type { Store } from "../store/store.ts";

interface Known {
  readonly drivers: string;
  readonly revision: string;
}

/** Drivers whose part of revisions is remembered at most. */
const mostDrivers = 1000;

/**
 * Printers' revisions for lists. What was calculated is remembered with the listed printer, which is the same object
 * until the printer changes, and with all that can change of its drivers.
 */
export class Revisions {
  readonly #store: Store;
  readonly #known = new WeakMap<ListedPrinter["printer"], Known>();
  readonly #drivers = new Map<string, (printer: Printer) => string>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** By the printer's id; of printers without a driver none. */
  of(rows: readonly ListedPrinter[]): ReadonlyMap<number, string> {
    const withDriver = rows.flatMap(({ printer, driver, arm64Driver }) => {
      return driver === undefined ? [] : { printer, driver, arm64Driver, key: keyOf(driver, arm64Driver) };
    });
    const unknown = withDriver.filter(({ printer, key }) => this.#known.get(printer)?.drivers !== key);
    const settings = new Map(this.#settingsOf(unknown).map((printer) => [printer.id, printer]));
    for (const { printer, driver, arm64Driver, key } of unknown) {
      const whole = settings.get(printer.id);
      if (whole === undefined) continue;
      this.#known.set(printer, { drivers: key, revision: this.#maker(key, driver, arm64Driver)(whole) });
    }
    return new Map(
      withDriver.map(({ printer }) => [printer.id, this.#known.get(printer)?.revision ?? ""] as const),
    );
  }

  #settingsOf(unknown: readonly Pick<ListedPrinter, "printer">[]): Printer[] {
    return unknown.length === 0 ? [] : this.#store.printers.several(unknown.map(({ printer }) => printer.id));
  }

  #maker(
    key: string,
    driver: DriverSummary,
    arm64Driver: DriverSummary | undefined,
  ): (printer: Printer) => string {
    const known = this.#drivers.get(key);
    if (known !== undefined) return known;
    const { drivers } = this.#store;
    const made = revisionsWith(drivers.get(driver.id), arm64Driver && drivers.get(arm64Driver.id));
    if (this.#drivers.size >= mostDrivers) this.#drivers.clear();
    this.#drivers.set(key, made);
    return made;
  }
}

/** All of the drivers that a revision is made of; a report changes with its archive alone. */
function keyOf(...drivers: readonly (DriverSummary | undefined)[]): string {
  const parts = drivers.map((driver) => {
    if (driver === undefined) return [];
    const { id, sha256, inf_path, driver_desc, trust_publisher } = driver;
    return [id, sha256, inf_path, driver_desc, trust_publisher];
  });
  return JSON.stringify(parts);
}
