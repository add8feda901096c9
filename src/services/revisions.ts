import type { DriverSummary } from "../domain/driver.ts";
import type { ListedPrinter } from "../domain/listings.ts";
import type { Printer } from "../domain/printer.ts";
import { revisionsWith } from "../pkg/scripts/deployment.ts";
import type { Store } from "../store/store.ts";

interface Known {
  readonly driver: string;
  readonly revision: string;
}

/** Drivers whose part of revisions is remembered at most. */
const mostDrivers = 1000;

/**
 * Printers' revisions for lists. What was calculated is remembered with the listed printer, which is the same object
 * until the printer changes, and with all that can change of its driver.
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
    const withDriver = rows.flatMap(({ printer, driver }) => {
      return driver === undefined ? [] : { printer, driver, key: keyOf(driver) };
    });
    const unknown = withDriver.filter(({ printer, key }) => this.#known.get(printer)?.driver !== key);
    const settings = new Map(this.#settingsOf(unknown).map((printer) => [printer.id, printer]));
    for (const { printer, driver, key } of unknown) {
      const whole = settings.get(printer.id);
      if (whole === undefined) continue;
      this.#known.set(printer, { driver: key, revision: this.#maker(key, driver)(whole) });
    }
    return new Map(
      withDriver.map(({ printer }) => [printer.id, this.#known.get(printer)?.revision ?? ""] as const),
    );
  }

  #settingsOf(unknown: readonly Pick<ListedPrinter, "printer">[]): Printer[] {
    return unknown.length === 0 ? [] : this.#store.printers.several(unknown.map(({ printer }) => printer.id));
  }

  #maker(key: string, { id }: DriverSummary): (printer: Printer) => string {
    const known = this.#drivers.get(key);
    if (known !== undefined) return known;
    const made = revisionsWith(this.#store.drivers.get(id));
    if (this.#drivers.size >= mostDrivers) this.#drivers.clear();
    this.#drivers.set(key, made);
    return made;
  }
}

/** All of a driver that a revision is made of; its report changes with its archive alone. */
function keyOf({ id, sha256, inf_path, driver_desc, trust_publisher }: DriverSummary): string {
  return JSON.stringify([id, sha256, inf_path, driver_desc, trust_publisher]);
}
