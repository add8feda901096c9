import type { DriverSummary } from "../domain/driver.ts";
import { groupsBy } from "../domain/groups.ts";
import type { ListedPrinter } from "../domain/listings.ts";
import { revisionsWith } from "../pkg/scripts/revision.ts";
import type { Store } from "../store/store.ts";
import type { DeploymentMemory } from "./deployment-memory.ts";

interface Known {
  readonly drivers: string;
  readonly revision: string;
}

/** A printer that has a driver. */
type Deployable = ListedPrinter & { readonly driver: DriverSummary };

/**
 * Compares printers' revisions with those that were deployed last. What was calculated is remembered with the listed
 * printer, which is the same object until the printer changes, and with all that can change of its drivers.
 */
export class Revisions {
  readonly #store: Store;
  readonly #memory: Pick<DeploymentMemory, "latest">;
  readonly #known = new WeakMap<ListedPrinter["printer"], Known>();

  constructor(store: Store, memory: Pick<DeploymentMemory, "latest">) {
    this.#store = store;
    this.#memory = memory;
  }

  /** The ids of printers of which another revision was deployed than they are now. */
  changed(rows: readonly ListedPrinter[]): ReadonlySet<number> {
    const deployed = rows.filter((row): row is Deployable => {
      return row.driver !== undefined && this.#memory.latest(row.printer.id) !== undefined;
    });
    const unknown = deployed.filter((row) => this.#known.get(row.printer)?.drivers !== keyOf(row));
    for (const [drivers, group] of groupsBy(unknown, keyOf)) this.#calculate(drivers, group);
    const changed = deployed.filter(({ printer }) => {
      return this.#memory.latest(printer.id)?.revision !== this.#known.get(printer)?.revision;
    });
    return new Set(changed.map(({ printer }) => printer.id));
  }

  /** @param group printers of the same drivers, whose reports are read once and not kept: they may be large */
  #calculate(key: string, group: readonly Deployable[]): void {
    const [first] = group;
    if (first === undefined) return;
    const { drivers, printers } = this.#store;
    const arm64 = first.arm64Driver && drivers.get(first.arm64Driver.id);
    const revisionOf = revisionsWith(drivers.get(first.driver.id), arm64);
    const rows = new Map(group.map(({ printer }) => [printer.id, printer]));
    for (const whole of printers.several([...rows.keys()])) {
      const listed = rows.get(whole.id);
      if (listed !== undefined) this.#known.set(listed, { drivers: key, revision: revisionOf(whole) });
    }
  }
}

/** All of the drivers that a revision is made of; a report changes with its archive alone. */
function keyOf({ driver, arm64Driver }: Deployable): string {
  return JSON.stringify([partsOf(driver), arm64Driver && partsOf(arm64Driver)]);
}

function partsOf({ id, sha256, inf_path, driver_desc, trust_publisher }: DriverSummary) {
  return [id, sha256, inf_path, driver_desc, trust_publisher];
}
