import {
  type DriverSummary,
  driverFamily,
  fileNameOf,
  type InfSummary,
  shippedBy,
  vendorOf,
} from "./driver.ts";

/**
 * A DriverVer as a text that sorts by UTF-16 units as Windows ranks drivers: by date, then by version, number by
 * number. Windows treats a missing or invalid date as 00/00/0000, older than any other. A number that a version lacks
 * counts as 0. `pkg/scripts/shared/driver-version.ps1` ranks the same way.
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

/** The numbers, however large, each after a unit that tells how many digits it has. */
function sortableVersion(version: string): string {
  const numbers = version.match(/[0-9]+/g)?.map((digits) => digits.replace(/^0+/, "")) ?? [];
  while (numbers.at(-1) === "") numbers.pop();
  return numbers.map((digits) => String.fromCharCode(digits.length) + digits).join("");
}

/** Sorts by title; the newest version of a title comes first. */
export function sortedByTitle<T extends DriverSummary>(drivers: readonly T[]): T[] {
  const keyed = newestFirst(drivers).map((driver) => ({
    driver,
    title: driverFamily(driver).toLowerCase(),
  }));
  return keyed.sort((a, b) => compare(a.title, b.title)).map(({ driver }) => driver);
}

/** Sorts the newest version first; of the same version, the latest upload first. */
export function newestFirst<T extends DriverSummary>(drivers: readonly T[]): T[] {
  const ranked = drivers.map((driver) => ({ driver, rank: rankOf(driver) }));
  ranked.sort((a, b) => compare(b.rank, a.rank) || b.driver.id - a.driver.id);
  return ranked.map(({ driver }) => driver);
}

/** Newer versions that serve at least the same architectures, the newest first. */
export function newerVersions<T extends DriverSummary>(driver: DriverSummary, drivers: readonly T[]): T[] {
  return versionsOf(driver, drivers).filter(
    (other) => rankOf(other) > rankOf(driver) && servesAllOf(other, driver),
  );
}

/** Older versions that serve no other architectures, the newest first. */
export function olderVersions<T extends DriverSummary>(driver: DriverSummary, drivers: readonly T[]): T[] {
  return versionsOf(driver, drivers).filter(
    (other) => rankOf(other) < rankOf(driver) && servesAllOf(driver, other),
  );
}

/** Drivers with the same provider and INF name, the newest first. */
function versionsOf<T extends DriverSummary>(driver: DriverSummary, drivers: readonly T[]): T[] {
  const maker = providerAndInf(driver);
  if (maker === undefined) return [];
  return newestFirst(drivers.filter((other) => providerAndInf(other) === maker));
}

function rankOf({ listed }: DriverSummary): string {
  return driverRank(listed?.driverVer ?? null);
}

/** Whether a version serves all architectures that the other one serves. */
function servesAllOf(version: DriverSummary, other: DriverSummary): boolean {
  const machines = shippedBy(version.listed);
  return shippedBy(other.listed).every((name) => machines.includes(name));
}

/** Provider and INF name; undefined where either is not known. */
function providerAndInf({ listed, inf_path }: DriverSummary): string | undefined {
  const vendor = listed?.isPrinter ? vendorOf(listed.provider) : undefined;
  return vendor && inf_path !== "" ? `${vendor}\n${fileNameOf(inf_path)}`.toLowerCase() : undefined;
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
