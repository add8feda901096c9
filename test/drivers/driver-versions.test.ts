import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import type { Driver, InfSummary } from "../../src/domain/drivers/driver.ts";
import { driverRank } from "../../src/domain/drivers/driver-version.ts";
import type { ListedDriver } from "../../src/domain/printers/listings.ts";
import { type PowerShellValue, powershell } from "../../src/pkg/scripts/powershell.ts";
import { DriverVersions } from "../../src/services/drivers/driver-versions.ts";
import { rounds } from "../support/depth.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { seededRandom } from "../support/random.ts";
import { makeDriver } from "../support/records.ts";

/** An INF's DriverVer as written. */
type DriverVer = NonNullable<InfSummary["driverVer"]>;

const dated = (date: string, version = "1.0.0.0"): DriverVer => ({ date, version });
const versioned = (version: string): DriverVer => ({ date: "06/21/2025", version });

/** Pairs of drivers and how Windows ranks the first one: 1 is newer, 0 the same, -1 older. */
const rankedPairs: readonly [why: string, a: DriverVer, b: DriverVer, order: -1 | 0 | 1][] = [
  ["the date comes first", dated("07/01/2025", "1.0.0.0"), dated("06/30/2025", "9.9.9.9"), 1],
  ["years before months", dated("01/01/2026"), dated("12/31/2025"), 1],
  ["months before days", dated("02/01/2025"), dated("01/31/2025"), 1],
  ["days", dated("02/02/2025"), dated("02/01/2025"), 1],
  ["hyphens for slashes", dated("06-21-2025"), dated("06/21/2025"), 0],
  ["a digit for two", dated("6/1/2025"), dated("06/01/2025"), 0],
  ["blanks around a date", dated(" \t06/21/2025 "), dated("06/21/2025"), 0],
  ["a date older than an era", dated("01/01/1601"), dated("01/01/1970"), -1],
  ["no date is older than any", dated("", "9.0.0.0"), dated("01/01/1980", "1.0.0.0"), -1],
  ["zeros are no date", dated("00/00/0000"), dated(""), 0],
  ["the thirteenth month is no date", dated("13/01/2025"), dated(""), 0],
  ["the month zero is no date", dated("00/01/2025"), dated(""), 0],
  ["the thirty-second day is no date", dated("01/32/2025"), dated(""), 0],
  ["the day zero is no date", dated("01/00/2025"), dated(""), 0],
  ["the year first is no date", dated("2025/06/21"), dated(""), 0],
  ["five digits of a year are no date", dated("06/21/20255"), dated(""), 0],
  ["dots make no date", dated("21.06.2025"), dated(""), 0],
  ["digits of other scripts make no date", dated("٠٦/٢١/٢٠٢٥"), dated(""), 0],
  ["numbers, not texts", versioned("1.10.0.0"), versioned("1.9.0.0"), 1],
  ["the first number that differs counts", versioned("1.2.3.9"), versioned("1.2.4.0"), -1],
  ["missing numbers are zero", versioned("1.2"), versioned("1.2.0.0"), 0],
  ["a fifth number of zero", versioned("1.2.3.4.0"), versioned("1.2.3.4"), 0],
  ["leading zeros are not length", versioned("1.0009"), versioned("1.10"), -1],
  ["over 65535", versioned("1.70000"), versioned("1.65535"), 1],
  ["no version is zero", versioned(""), versioned("0.0.0.0"), 0],
  ["no version is older than any", versioned(""), versioned("0.0.0.1"), -1],
  ["words are no version", versioned("unknown"), versioned(""), 0],
  ["a letter after", versioned("1.2b"), versioned("1.2a"), 0],
  ["a dot too many", versioned("1..2"), versioned("1.2"), 0],
  ["blanks in a version", versioned(" 1 . 2 "), versioned("1.2"), 0],
  ["commas and hyphens", versioned("1,2-3"), versioned("1.2.3"), 0],
  ["digits of other scripts are no numbers", versioned("1.٢"), versioned("1"), 0],
  ["neither date nor version is older than any", dated("", ""), dated("", "0.1"), -1],
];

/** An installed and a requested driver, and whether the installed one is current. */
const currentPairs: readonly [why: string, installed: DriverVer | null, wanted: DriverVer, boolean][] = [
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

function orderOf(a: DriverVer | null, b: DriverVer | null): number {
  const [left, right] = [driverRank(a), driverRank(b)];
  return left === right ? 0 : left < right ? -1 : 1;
}

const seed = 20251121;

/** Pairs of few values, so that many pairs are partly equal. */
function randomPairs(count: number): [DriverVer, DriverVer][] {
  const random = seededRandom(seed);
  const oneOf = (texts: readonly string[]) => texts[random(texts.length)] ?? "";
  const dates = ["", "6/21/2025", "06-21-2025", "06/22/2025", "12/31/2024", "13/01/2025", "00/00/0000", "x"];
  const number = () => oneOf(["0", "1", "2", "10", "010", "65536", "", "a"]);
  const version = () => Array.from({ length: random(5) }, number).join(oneOf([".", ".", "..", "-"]));
  const driverVer = () => ({ date: oneOf(dates), version: version() });
  return Array.from({ length: count }, () => [driverVer(), driverVer()]);
}

test("drivers rank as Windows ranks them, and one without a DriverVer as one without date and version", () => {
  for (const [why, a, b, order] of rankedPairs)
    assert.deepEqual([orderOf(a, b), orderOf(b, a)], [order, 0 - order], why);

  const orders = ["", "0.1"].map((version) => orderOf(null, dated("", version)));
  assert.deepEqual(orders, [0, -1]);
});

describe("driver versions in a real PowerShell", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  /** Runs a command of the scripts for each pair, `$_.A` and `$_.B`, and returns its results. */
  async function evaluate(pairs: readonly PowerShellValue[], command: string): Promise<unknown> {
    const script = join(windows.folder, "versions.ps1");
    const part = resolve("src/pkg/scripts/shared/driver-version.ps1");
    const values = powershell`Set-StrictMode -Version 2.0\n. ${part}\n$Pairs = ${pairs}\n`;
    await writeFile(script, `\ufeff${values}$Settings = @($Pairs | ForEach-Object { ${command} })`);
    return (await windows.request<{ value: unknown }>({ do: "evaluate", script })).value;
  }

  const tableOf = (driverVer: DriverVer | null) =>
    driverVer && { Date: driverVer.date, Version: driverVer.version };
  const compare = "[Math]::Sign((Compare-DriverVersion -Installed $_.A -Driver $_.B))";
  /** Without one of the dates, the scripts compare versions alone. */
  const isDated = ({ date }: DriverVer) => driverRank({ date, version: "" }) !== driverRank(null);

  test("the scripts and the choice of the printer's INF rank drivers the same way", async () => {
    const known = rankedPairs.filter(([, a, b]) => isDated(a) && isDated(b) && b.version !== "");
    const random = randomPairs(rounds(500, 5000))
      .filter(([a, b]) => isDated(a) && isDated(b) && a.version && b.version)
      .map(([a, b]) => [`seed ${seed}`, a, b, orderOf(a, b)] as const);
    const pairs = [...known, ...random];

    const tables = pairs.map(([, a, b]) => ({ A: tableOf(a), B: tableOf(b) }));
    const orders = (await evaluate(tables, compare)) as readonly number[];

    assert.ok(known.length > 20);
    const wrong = pairs.filter(([, , , order], i) => order !== orders[i]);
    assert.deepEqual([wrong, orders.length], [[], pairs.length]);
  });

  test("dates are month/day/year in every culture", async () => {
    await windows.setMachine();
    const of = (date: string) => ({ Date: date, Version: "1.0" });
    const pairs = ["02/11/2025", "04/01/2025"].map((date) => ({ A: of(date), B: of("03/05/2025") }));
    for (const culture of ["de-DE", "th-TH", "ar-SA"]) {
      await windows.paste(`[Threading.Thread]::CurrentThread.CurrentCulture = '${culture}'`);

      const orders = await evaluate(pairs, compare);

      await windows.paste("[Threading.Thread]::CurrentThread.CurrentCulture = ''");
      assert.deepEqual(orders, [-1, 1], culture);
    }
  });

  test("an installed driver is current when it is at least as new as the requested one; without a date, the version counts", async () => {
    const pairs = currentPairs.map(([, a, b]) => ({ A: tableOf(a), B: tableOf(b) }));
    const command = "Test-DriverCurrent -Installed $_.A -Driver ($_.B + @{ ExactVersion = $false })";

    const answers = (await evaluate(pairs, command)) as readonly boolean[];

    const wrong = currentPairs.filter(([, , , isCurrent], i) => isCurrent !== answers[i]);
    assert.deepEqual([wrong, answers.length], [[], currentPairs.length]);
  });
});

type Version = Driver & ListedDriver;

/** A version of one driver, as in lists. */
function version(id: number, ...descriptions: string[]): Version {
  const driverVer = { date: "06/21/2025", version: `1.${id}` };
  const inf = { descriptions, driverVer };
  return { ...makeDriver({ id, sha256: `${id}`.repeat(64), inf }), printer_count: 0 };
}

/** `DriverVersions` of these drivers, with the number of reports read. @param models chosen by printers, by the driver's id */
function versionsOf(drivers: readonly Version[], models: Record<number, string[]>) {
  let reads = 0;
  const listed = drivers.map((driver) => ({ ...driver, printer_count: models[driver.id]?.length ?? 0 }));
  const versions = new DriverVersions({
    drivers: {
      chosenModels: (id) => models[id] ?? [],
      get: (id) => {
        reads++;
        return drivers.find((driver) => driver.id === id) ?? assert.fail(`no driver ${id}`);
      },
      list: () => listed,
    },
  });
  return { versions, reads: () => reads };
}

test("a newer version has a model that printers of the older one deploy", () => {
  const old = version(1, "Papyrus A", "Papyrus B");
  const next = version(2, "Papyrus B", "Papyrus C");
  const models: Record<number, string[]> = { 1: [""] };
  const { versions, reads } = versionsOf([next, old], models);
  const newer = () => versions.newerThan(old, [next, old])?.id;

  const byDriver = newer();
  models[1] = ["", "Papyrus B"];
  const byOwnChoice = newer();
  models[1] = [""];
  const reverted = newer();

  assert.deepEqual([byDriver, byOwnChoice, reverted], [undefined, 2, undefined]);
  assert.equal(reads(), 2, "comparisons are cached");
});

test("a universal driver counts as a newer version of an older universal driver in use with another name", () => {
  const old = version(1, "Papyrus Universal PCL 6");
  const next = version(2, "Papyrus Universal Print Driver");
  const drivers = [version(3, "Papyrus 300"), next, old];

  const used = versionsOf(drivers, { 1: [""] }).versions.newerThan(old, drivers);
  const unused = versionsOf(drivers, {}).versions.newerThan(old, drivers);

  assert.deepEqual([used?.id, unused], [2, undefined]);
});

test("older versions that printers use are offered if the new version has one of their models", () => {
  const others = version(1, "Papyrus X");
  const byDriver = version(2, "Papyrus A");
  const byOwnChoice = version(3, "Papyrus X", "Papyrus A");
  const unused = [4, 5, 6, 7].map((id) => version(id, "Papyrus A"));
  const newest = version(8, "Papyrus A");
  const drivers = [newest, ...unused, byOwnChoice, byDriver, others];

  const older = versionsOf(drivers, { 1: [""], 2: [""], 3: ["Papyrus A"] }).versions.olderThan(newest);

  const ids = older.map(({ id }) => id);
  assert.deepEqual(ids, [3, 2]);
});
