import {
  type Architecture,
  type DriverSummary,
  driverFamily,
  fileOf,
  shippedBy,
  vendorOf,
} from "./driver.ts";
import { driverRank } from "./driver-version.ts";
import { addTo } from "./groups.ts";

/** By title, of one title the newest version first. */
export function inOrder<T extends DriverSummary>(drivers: readonly T[]): T[] {
  const keyed = drivers.map((driver) => ({
    driver,
    title: driverFamily(driver).toLowerCase(),
    rank: driverRank(driver.listed?.driverVer ?? null),
  }));
  keyed.sort((a, b) => {
    return compare(a.title, b.title) || compare(b.rank, a.rank) || b.driver.id - a.driver.id;
  });
  return keyed.map(({ driver }) => driver);
}

/** A driver as it is compared with others of its provider and INF. */
interface Version<T> {
  readonly driver: T;
  readonly rank: string;
  readonly machines: readonly Architecture[];
}

/** Drivers in groups of one provider and INF, of each group the newest first: what many are compared with. */
export class DriverVersions<T extends DriverSummary> {
  readonly #groups = new Map<string, Version<T>[]>();

  constructor(drivers: readonly T[]) {
    for (const driver of drivers) {
      const maker = makerOf(driver);
      if (maker === undefined) continue;
      addTo(this.#groups, maker, versionOf(driver));
    }
    for (const group of this.#groups.values()) {
      group.sort((a, b) => compare(b.rank, a.rank) || b.driver.id - a.driver.id);
    }
  }

  /** Those whose version is newer, for the same machines at least; the newest first. */
  *newerOf(driver: DriverSummary): Generator<T> {
    const own = versionOf(driver);
    for (const other of this.#groupOf(driver)) {
      if (other.rank <= own.rank) return;
      if (servesAll(other, own)) yield other.driver;
    }
  }

  /** Those whose version is older, for no other machines; the newest first. */
  *olderOf(driver: DriverSummary): Generator<T> {
    const own = versionOf(driver);
    for (const other of this.#groupOf(driver)) {
      if (other.rank < own.rank && servesAll(own, other)) yield other.driver;
    }
  }

  #groupOf(driver: DriverSummary): readonly Version<T>[] {
    return this.#groups.get(makerOf(driver) ?? "") ?? [];
  }
}

function versionOf<T extends DriverSummary>(driver: T): Version<T> {
  return { driver, rank: driverRank(driver.listed?.driverVer ?? null), machines: shippedBy(driver.listed) };
}

/** Whether a version is for all machines that another one is for. */
function servesAll(version: Version<unknown>, other: Version<unknown>): boolean {
  return other.machines.every((name) => version.machines.includes(name));
}

/** Provider and INF; undefined where either is not known. */
function makerOf({ listed, inf_path }: DriverSummary): string | undefined {
  const vendor = listed?.isPrinter ? vendorOf(listed.provider) : undefined;
  return vendor && inf_path !== "" ? `${vendor}\n${fileOf(inf_path)}`.toLowerCase() : undefined;
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
