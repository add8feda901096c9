import { type DriverSummary, driverFamily, fileOf, shippedBy, vendorOf } from "./driver.ts";
import { driverRank } from "./driver-version.ts";

/** By title, of one title the newest version first. */
export function inOrder<T extends DriverSummary>(drivers: readonly T[]): T[] {
  const keyed = newestFirst(drivers).map((driver) => ({
    driver,
    title: driverFamily(driver).toLowerCase(),
  }));
  return keyed.sort((a, b) => compare(a.title, b.title)).map(({ driver }) => driver);
}

/** The newest version first, of one version the driver that was uploaded last. */
export function newestFirst<T extends DriverSummary>(drivers: readonly T[]): T[] {
  const ranked = drivers.map((driver) => ({ driver, rank: rankOf(driver) }));
  ranked.sort((a, b) => compare(b.rank, a.rank) || b.driver.id - a.driver.id);
  return ranked.map(({ driver }) => driver);
}

/** Versions of a driver that are newer, for the same machines at least; the newest first. */
export function newerVersions<T extends DriverSummary>(driver: DriverSummary, drivers: readonly T[]): T[] {
  return versionsOf(driver, drivers).filter(
    (other) => rankOf(other) > rankOf(driver) && servesAll(other, driver),
  );
}

/** Versions of a driver that are older, for no other machines; the newest first. */
export function olderVersions<T extends DriverSummary>(driver: DriverSummary, drivers: readonly T[]): T[] {
  return versionsOf(driver, drivers).filter(
    (other) => rankOf(other) < rankOf(driver) && servesAll(driver, other),
  );
}

/** Drivers of the same provider and INF, the newest first. */
function versionsOf<T extends DriverSummary>(driver: DriverSummary, drivers: readonly T[]): T[] {
  const maker = makerOf(driver);
  if (maker === undefined) return [];
  return newestFirst(drivers.filter((other) => makerOf(other) === maker));
}

function rankOf({ listed }: DriverSummary): string {
  return driverRank(listed?.driverVer ?? null);
}

/** Whether a version is for all machines that another one is for. */
function servesAll(version: DriverSummary, other: DriverSummary): boolean {
  const machines = shippedBy(version.listed);
  return shippedBy(other.listed).every((name) => machines.includes(name));
}

/** Provider and INF; undefined where either is not known. */
function makerOf({ listed, inf_path }: DriverSummary): string | undefined {
  const vendor = listed?.isPrinter ? vendorOf(listed.provider) : undefined;
  return vendor && inf_path !== "" ? `${vendor}\n${fileOf(inf_path)}`.toLowerCase() : undefined;
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
