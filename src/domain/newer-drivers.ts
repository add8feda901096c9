import type { DriverSummary } from "./driver.ts";
import { makerOf, servesAll, type Version, versionOf } from "./driver-order.ts";

/**
 * Drivers that a newer one of the same provider and INF could stand in for, for the same machines at least.
 * @returns the newest of these by the older driver's id
 */
export function newerDrivers<T extends DriverSummary>(drivers: readonly T[]): Map<number, T> {
  const groups = new Map<string, Version<T>[]>();
  for (const driver of drivers) {
    const maker = makerOf(driver);
    if (maker === undefined) continue;
    const group = groups.get(maker);
    if (group === undefined) groups.set(maker, [versionOf(driver)]);
    else group.push(versionOf(driver));
  }
  return new Map([...groups.values()].flatMap(newerIn));
}

/** Anybody may upload a thousand drivers of one INF: each is compared with the newest of each set of machines alone. */
function newerIn<T extends DriverSummary>(group: readonly Version<T>[]): [number, T][] {
  const newest = new Map<string, Version<T>>();
  for (const one of group) {
    const key = [...one.machines].sort().join();
    const known = newest.get(key);
    if (known === undefined || known.rank < one.rank) newest.set(key, one);
  }
  const candidates = [...newest.values()].sort((a, b) => (a.rank < b.rank ? 1 : -1));
  return group.flatMap((one) => {
    const found = candidates.find((other) => other.rank > one.rank && servesAll(other, one));
    return found === undefined ? [] : [[one.driver.id, found.driver]];
  });
}
