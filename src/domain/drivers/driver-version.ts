import { type DriverSummary, driverFamily, fileOf, type InfSummary, shippedBy, vendorOf } from "./driver.ts";

/**
 * A DriverVer as a text that sorts (by its units) as Windows ranks drivers: by date, then by version, number by
 * number. Windows takes a missing or invalid date for 00/00/0000, older than any; a number that a version lacks
 * is 0. `pkg/scripts/shared/driver-version.ps1` ranks alike.
 */
export function driverRank(driverVer: InfSummary["driverVer"]): string {
  return sortableDate(driverVer?.date ?? "") + sortableVersion(driverVer?.version ?? "");
}

/** `mm/dd/yyyy` or `mm-dd-yyyy` as yyyymmdd; zeros for anything else. */
function sortableDate(date: string): string {
  const match = /^[ \t]*([0-9]{1,2})[/-]([0-9]{1,2})[/-]([0-9]{4})(?![0-9])/.exec(date);
  const [, month = "", day = "", year = ""] = match ?? [];
  const isValid = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= 31;
  return isValid ? year + month.padStart(2, "0") + day.padStart(2, "0") : "00000000";
}

/** The numbers, however large, each behind a unit that tells how many digits it has. */
function sortableVersion(version: string): string {
  const numbers = version.match(/[0-9]+/g)?.map((digits) => digits.replace(/^0+/, "")) ?? [];
  while (numbers.at(-1) === "") numbers.pop();
  return numbers.map((digits) => String.fromCharCode(digits.length) + digits).join("");
}

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
