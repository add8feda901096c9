import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { driverRank } from "../../src/domain/drivers/driver-version.ts";
import { type PowerShellValue, powershell } from "../../src/pkg/scripts/powershell.ts";
import { currentPairs, type DriverVer, rankedPairs } from "../support/drivers/driver-versions.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { seededRandom } from "../support/random.ts";

function orderOf(a: DriverVer | null, b: DriverVer | null): number {
  const [left, right] = [driverRank(a), driverRank(b)];
  return left === right ? 0 : left < right ? -1 : 1;
}

const seed = 20251121;

/** Pairs of few values, so that many pairs are partly equal. */
function randomPairs(count: number): [DriverVer, DriverVer][] {
  const random = seededRandom(seed);
  const oneOf = (texts: readonly string[]) => texts[random(texts.length)] ?? "";
  const date = () =>
    oneOf(["", "6/21/2025", "06-21-2025", "06/22/2025", "12/31/2024", "13/01/2025", "00/00/0000", "x"]);
  const number = () => oneOf(["0", "1", "2", "10", "010", "65536", "", "a"]);
  const driverVer = () => ({
    date: date(),
    version: Array.from({ length: random(5) }, number).join(oneOf([".", ".", "..", "-"])),
  });
  return Array.from({ length: count }, () => [driverVer(), driverVer()]);
}

for (const [why, a, b, order] of rankedPairs) {
  test(`drivers rank as Windows ranks them: ${why}`, () => {
    const orders = [orderOf(a, b), orderOf(b, a)];

    assert.deepEqual(orders, [order, 0 - order]);
  });
}

test("an INF without a DriverVer is as old as one without date and version", () => {
  const orders = [orderOf(null, { date: "", version: "" }), orderOf(null, { date: "", version: "0.1" })];

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
    const dated = rankedPairs.filter(([, a, b]) => isDated(a) && isDated(b) && b.version !== "");
    const pairs = dated.map(([, a, b]) => ({ A: tableOf(a), B: tableOf(b) }));

    const orders = await evaluate(pairs, compare);

    assert.ok(pairs.length > 20);
    assert.deepEqual(
      orders,
      dated.map(([, , , order]) => order),
    );
  });

  test("the scripts rank drivers with random dates and versions the same way", async () => {
    const pairs = randomPairs(5000).filter(([a, b]) => isDated(a) && isDated(b) && a.version && b.version);

    const orders = await evaluate(
      pairs.map(([a, b]) => ({ A: tableOf(a), B: tableOf(b) })),
      compare,
    );

    assert.deepEqual(
      orders,
      pairs.map(([a, b]) => orderOf(a, b)),
      `seed ${seed}`,
    );
  });

  test("dates are month/day/year in every culture", async () => {
    await windows.setMachine();
    for (const culture of ["de-DE", "th-TH", "ar-SA"]) {
      await windows.paste(`[Threading.Thread]::CurrentThread.CurrentCulture = '${culture}'`);
      const pairs = [
        { A: { Date: "02/11/2025", Version: "1.0" }, B: { Date: "03/05/2025", Version: "1.0" } },
        { A: { Date: "04/01/2025", Version: "1.0" }, B: { Date: "03/05/2025", Version: "1.0" } },
      ];

      const orders = await evaluate(pairs, compare);

      await windows.paste("[Threading.Thread]::CurrentThread.CurrentCulture = ''");
      assert.deepEqual(orders, [-1, 1], culture);
    }
  });

  test("an installed driver is current when it is at least as new as the requested one; without a date, the version counts", async () => {
    const pairs = currentPairs.map(([, installed, wanted]) => ({
      A: tableOf(installed),
      B: tableOf(wanted),
    }));

    const answers = await evaluate(
      pairs,
      "Test-DriverCurrent -Installed $_.A -Driver ($_.B + @{ ExactVersion = $false })",
    );

    assert.deepEqual(
      answers,
      currentPairs.map(([, , , isCurrent]) => isCurrent),
    );
  });
});
