import { byCodeUnit } from "../text.ts";
import { type DriverSummary, fileNameOf, type InfSummary, shippedBy, vendorOf } from "./driver.ts";

/**
 * A DriverVer as a text whose order, by UTF-16 units, is the rank that Windows gives drivers: by date, then by version,
 * number by number. To Windows, a missing or invalid date is 00/00/0000, older than any other, and a missing number is
 * 0. `pkg/scripts/shared/driver-version.ps1` ranks the same way.
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

/** The numbers of a version, of any size. Each follows a UTF-16 unit whose value is the number of its digits. */
function sortableVersion(version: string): string {
  const numbers = version.match(/[0-9]+/g)?.map((digits) => digits.replace(/^0+/, "")) ?? [];
  while (numbers.at(-1) === "") numbers.pop();
  return numbers.map((digits) => String.fromCharCode(digits.length) + digits).join("");
}

/** Sorts by name without the version, and drivers that differ only in their version from new to old. */
export function sortedByTitle<T extends DriverSummary>(drivers: readonly T[]): T[] {
  const keyed = newestFirst(drivers).map((driver) => ({ driver, family: familyIn(driver.name) }));
  return keyed.sort((a, b) => byCodeUnit(a.family, b.family)).map(({ driver }) => driver);
}

function familyIn(name: string): string {
  return (name.split(/ v?\d+\.\d/i)[0] ?? name).toLowerCase();
}

/** Sorts the newest version first; of the same version, the latest upload first. */
export function newestFirst<T extends DriverSummary>(drivers: readonly T[]): T[] {
  const ranked = drivers.map((driver) => ({ driver, rank: rankOf(driver) }));
  ranked.sort((a, b) => byCodeUnit(b.rank, a.rank) || b.driver.id - a.driver.id);
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
  const wanted = providerAndInf(driver);
  if (wanted === undefined) return [];
  return newestFirst(drivers.filter((other) => providerAndInf(other) === wanted));
}

function rankOf({ listed }: DriverSummary): string {
  return driverRank(listed?.driverVer ?? null);
}

/** Whether a version serves all architectures that the other one serves. */
function servesAllOf(version: DriverSummary, other: DriverSummary): boolean {
  const served = shippedBy(version.listed);
  return shippedBy(other.listed).every((name) => served.includes(name));
}

/** Provider and INF name; undefined if either is unknown, or the INF is not a printer's. */
function providerAndInf({ listed, inf_path }: DriverSummary): string | undefined {
  const vendor = listed?.isPrinter ? vendorOf(listed.provider) : undefined;
  return vendor && inf_path !== "" ? `${vendor}\n${fileNameOf(inf_path)}`.toLowerCase() : undefined;
}
