/** An INF's DriverVer as written. */
export interface DriverVer {
  readonly date: string;
  readonly version: string;
}

const dated = (date: string, version = "1.0.0.0"): DriverVer => ({ date, version });
const versioned = (version: string): DriverVer => ({ date: "06/21/2025", version });

/** Pairs of drivers and how Windows ranks the first one: 1 is newer, 0 the same, -1 older. */
export const rankedPairs: readonly [why: string, a: DriverVer, b: DriverVer, order: -1 | 0 | 1][] = [
  ["the same", versioned("1.2.3.4"), versioned("1.2.3.4"), 0],
  ["the date comes first", dated("07/01/2025", "1.0.0.0"), dated("06/30/2025", "9.9.9.9"), 1],
  ["years before months", dated("01/01/2026"), dated("12/31/2025"), 1],
  ["months before days", dated("02/01/2025"), dated("01/31/2025"), 1],
  ["days", dated("02/02/2025"), dated("02/01/2025"), 1],
  ["hyphens for slashes", dated("06-21-2025"), dated("06/21/2025"), 0],
  ["a digit for two", dated("6/1/2025"), dated("06/01/2025"), 0],
  ["blanks around a date", dated(" \t06/21/2025 "), dated("06/21/2025"), 0],
  ["a date older than an era", dated("01/01/1601"), dated("01/01/1970"), -1],
  ["no date is older than any", dated("", "9.0.0.0"), dated("01/01/1980", "1.0.0.0"), -1],
  ["two without a date", dated("", "1.0.0.1"), dated("", "1.0.0.0"), 1],
  ["zeros are no date", dated("00/00/0000"), dated(""), 0],
  ["the thirteenth month is no date", dated("13/01/2025"), dated(""), 0],
  ["the month zero is no date", dated("00/01/2025"), dated(""), 0],
  ["the thirty-second day is no date", dated("01/32/2025"), dated(""), 0],
  ["the day zero is no date", dated("01/00/2025"), dated(""), 0],
  ["the year first is no date", dated("2025/06/21"), dated(""), 0],
  ["two digits of a year are no date", dated("06/21/25"), dated(""), 0],
  ["five digits of a year are no date", dated("06/21/20255"), dated(""), 0],
  ["dots make no date", dated("21.06.2025"), dated(""), 0],
  ["words make no date", dated("%DriverDate%"), dated(""), 0],
  ["digits of other scripts make no date", dated("٠٦/٢١/٢٠٢٥"), dated(""), 0],
  ["numbers, not texts", versioned("1.10.0.0"), versioned("1.9.0.0"), 1],
  ["the first number that differs counts", versioned("1.2.3.9"), versioned("1.2.4.0"), -1],
  ["missing numbers are zero", versioned("1.2"), versioned("1.2.0.0"), 0],
  ["three numbers", versioned("1.2.3"), versioned("1.2.2.9"), 1],
  ["a fifth number of zero", versioned("1.2.3.4.0"), versioned("1.2.3.4"), 0],
  ["leading zeros", versioned("01.002.0003.00004"), versioned("1.2.3.4"), 0],
  ["leading zeros are not length", versioned("1.0009"), versioned("1.10"), -1],
  ["over 65535", versioned("1.70000"), versioned("1.65535"), 1],
  ["no version is zero", versioned(""), versioned("0.0.0.0"), 0],
  ["no version is older than any", versioned(""), versioned("0.0.0.1"), -1],
  ["words are no version", versioned("unknown"), versioned(""), 0],
  ["a letter before", versioned("v1.2"), versioned("1.2"), 0],
  ["a letter after", versioned("1.2b"), versioned("1.2a"), 0],
  ["a dot too many", versioned("1..2"), versioned("1.2"), 0],
  ["a dot at either end", versioned(".1.2."), versioned("1.2"), 0],
  ["blanks in a version", versioned(" 1 . 2 "), versioned("1.2"), 0],
  ["commas and hyphens", versioned("1,2-3"), versioned("1.2.3"), 0],
  ["digits of other scripts are no numbers", versioned("1.٢"), versioned("1"), 0],
  ["neither date nor version", dated("", ""), dated("", ""), 0],
  ["neither date nor version is older than any", dated("", ""), dated("", "0.1"), -1],
];

/** An installed and a requested driver, and whether the installed one is current. */
export const currentPairs: readonly [why: string, installed: DriverVer | null, wanted: DriverVer, boolean][] =
  [
    ["none is installed", null, versioned("1.2.3.4"), false],
    ["none is installed, any version is wanted", null, versioned(""), false],
    ["the same", versioned("1.2.3.4"), versioned("1.2.3.4"), true],
    ["a newer version", versioned("1.2.3.5"), versioned("1.2.3.4"), true],
    ["an older version", versioned("1.2.3.3"), versioned("1.2.3.4"), false],
    ["a newer date with an older version", dated("06/22/2025", "1.0.0.0"), versioned("1.2.3.4"), true],
    ["an older date with a newer version", dated("06/20/2025", "9.0.0.0"), versioned("1.2.3.4"), false],
    ["Windows has no date: the same version", dated("", "1.2.3.4"), versioned("1.2.3.4"), true],
    ["Windows has no date: an older version", dated("", "1.2.3.3"), versioned("1.2.3.4"), false],
    ["the INF has no date: an older version", versioned("1.2.3.3"), dated("", "1.2.3.4"), false],
    ["the INF has no date: the same version", versioned("1.2.3.4"), dated("", "1.2.3.4"), true],
    ["neither has a date: an older version", dated("", "1.2.3.3"), dated("", "1.2.3.4"), false],
    ["any version is wanted", versioned("0.0.0.1"), versioned(""), true],
    ["Windows has no version", versioned(""), versioned("1.2.3.4"), false],
  ];
