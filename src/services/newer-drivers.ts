import type { DriverSummary, ListedInf } from "../domain/driver.ts";
import { driverRank } from "../domain/driver-version.ts";

/**
 * Of drivers with the same provider and INF, those that a newer one could stand in for: one that Windows ranks higher
 * and that serves all of the older one's machines.
 * @returns the newest of these by the older driver's id
 */
export function newerDrivers<T extends DriverSummary>(drivers: readonly T[]): Map<number, T> {
  const groups = new Map<string, Ranked<T>[]>();
  for (const driver of drivers) {
    const { listed } = driver;
    if (!listed?.provider || listed.driverVer === null) continue;
    const key = `${listed.provider}\n${baseName(driver.inf_path)}`.toLowerCase();
    const ranked = { driver, rank: driverRank(listed.driverVer), machines: machinesOf(listed) };
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [ranked]);
    else group.push(ranked);
  }
  return new Map([...groups.values()].flatMap(newerIn));
}

interface Ranked<T> {
  readonly driver: T;
  readonly rank: string;
  readonly machines: ReadonlySet<string>;
}

/** Drivers are few, but anybody may upload a thousand: each is compared with the newest of each set of machines. */
function newerIn<T>(group: readonly Ranked<T & DriverSummary>[]): [number, T & DriverSummary][] {
  const newest = new Map<string, Ranked<T & DriverSummary>>();
  for (const one of group) {
    const key = [...one.machines].sort().join();
    const known = newest.get(key);
    if (known === undefined || known.rank < one.rank) newest.set(key, one);
  }
  const candidates = [...newest.values()].sort((a, b) => (a.rank < b.rank ? 1 : -1));
  return group.flatMap((one) => {
    const found = candidates.find(
      ({ rank, machines }) => rank > one.rank && [...one.machines].every((name) => machines.has(name)),
    );
    return found === undefined ? [] : [[one.driver.id, found.driver]];
  });
}

function machinesOf({ architectures, notShipped }: ListedInf): ReadonlySet<string> {
  return new Set(architectures.filter((name) => !notShipped.includes(name)));
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
