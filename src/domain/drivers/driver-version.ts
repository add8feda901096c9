import type { InfSummary } from "./driver.ts";

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
