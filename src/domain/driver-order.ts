import { type Architecture, type DriverSummary, driverFamily, fileOf, vendorOf } from "./driver.ts";
import { driverRank } from "./driver-version.ts";

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

/** Those of the same provider and INF whose version is newer, for the same machines at least; the newest first. */
export function newerOf<T extends DriverSummary>(driver: DriverSummary, drivers: readonly T[]): T[] {
  return versionsOf(driver, drivers, (other, own) => other.rank > own.rank && servesAll(other, own));
}

/** Those of the same provider and INF whose version is older, for no other machines; the newest first. */
export function olderOf<T extends DriverSummary>(driver: DriverSummary, drivers: readonly T[]): T[] {
  return versionsOf(driver, drivers, (other, own) => other.rank < own.rank && servesAll(own, other));
}

/** A driver as it is compared with others of its maker. */
export interface Version<T> {
  readonly driver: T;
  readonly rank: string;
  readonly machines: readonly Architecture[];
}

export function versionOf<T extends DriverSummary>(driver: T): Version<T> {
  const { architectures = [], notShipped = [], driverVer = null } = driver.listed ?? {};
  const machines = architectures.filter((name) => !notShipped.includes(name));
  return { driver, rank: driverRank(driverVer), machines };
}

/** Whether a version is for all machines that another one is for. */
export function servesAll(version: Version<unknown>, other: Version<unknown>): boolean {
  return other.machines.every((name) => version.machines.includes(name));
}

function versionsOf<T extends DriverSummary>(
  driver: DriverSummary,
  drivers: readonly T[],
  isWanted: (other: Version<T>, own: Version<DriverSummary>) => boolean,
): T[] {
  const maker = makerOf(driver);
  if (maker === undefined) return [];
  const own = versionOf(driver);
  const found = drivers
    .filter((other) => other.id !== driver.id && makerOf(other) === maker)
    .map(versionOf)
    .filter((other) => isWanted(other, own));
  found.sort((a, b) => compare(b.rank, a.rank) || b.driver.id - a.driver.id);
  return found.map((version) => version.driver);
}

/** Provider and INF; undefined where either is not known. */
export function makerOf({ listed, inf_path }: DriverSummary): string | undefined {
  const vendor = listed?.isPrinter ? vendorOf(listed.provider) : undefined;
  return vendor && inf_path !== "" ? `${vendor}\n${fileOf(inf_path)}`.toLowerCase() : undefined;
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
