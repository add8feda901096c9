import assert from "node:assert/strict";
import { test } from "node:test";
import type { Driver } from "../../src/domain/drivers/driver.ts";
import type { ListedDriver } from "../../src/domain/printers/listings.ts";
import { DriverVersions } from "../../src/services/drivers/driver-versions.ts";
import { makeDriver } from "../support/records.ts";

type Version = Driver & ListedDriver;

/** A version of one driver, as in lists. */
function version(id: number, descriptions: string[]): Version {
  const driverVer = { date: "06/21/2025", version: `1.${id}` };
  return {
    ...makeDriver({ id, sha256: `${id}`.repeat(64), inf: { descriptions, driverVer } }),
    printer_count: 0,
  };
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
  const old = version(1, ["Papyrus A", "Papyrus B"]);
  const next = version(2, ["Papyrus B", "Papyrus C"]);
  const models: Record<number, string[]> = { 1: [""] };
  const { versions, reads } = versionsOf([next, old], models);
  const newer = () => versions.newerThan(old, [next, old])?.id;

  const byDriver = newer();
  models[1] = ["", "Papyrus B"];
  const byOwnChoice = newer();
  models[1] = [""];
  const reverted = newer();

  assert.deepEqual(
    [byDriver, byOwnChoice, reverted],
    [undefined, 2, undefined],
    "the driver's own model is not in the newer version",
  );
  assert.equal(reads(), 2, "comparisons are cached");
});

test("a universal driver counts as a newer version of an older universal driver with another name", () => {
  const old = version(1, ["Papyrus Universal PCL 6"]);
  const next = version(2, ["Papyrus Universal Print Driver"]);
  const other = version(3, ["Papyrus 300"]);
  const drivers = [other, next, old];

  const found = versionsOf(drivers, { 1: [""] }).versions.newerThan(old, drivers);

  assert.equal(found?.id, 2);
});

test("a driver that no printer uses has no newer version", () => {
  const [old, next] = [version(1, ["Papyrus A"]), version(2, ["Papyrus A"])];

  const found = versionsOf([next, old], {}).versions.newerThan(old, [next, old]);

  assert.equal(found, undefined);
});

test("older versions that printers use are offered if the new version has one of their models", () => {
  const others = version(1, ["Papyrus X"]);
  const byDriver = version(2, ["Papyrus A"]);
  const byOwnChoice = version(3, ["Papyrus X", "Papyrus A"]);
  const unused = [4, 5, 6, 7].map((id) => version(id, ["Papyrus A"]));
  const newest = version(8, ["Papyrus A"]);
  const drivers = [newest, ...unused, byOwnChoice, byDriver, others];

  const older = versionsOf(drivers, { 1: [""], 2: [""], 3: ["Papyrus A"] }).versions.olderThan(newest);

  assert.deepEqual(
    older.map(({ id }) => id),
    [3, 2],
  );
});
