import assert from "node:assert/strict";
import { test } from "node:test";
import type { Driver } from "../src/domain/driver.ts";
import type { ListedDriver, ListedPrinter } from "../src/domain/listings.ts";
import { NewerVersions, olderVersions } from "../src/services/driver-versions.ts";
import type { Store } from "../src/store/store.ts";
import { stepped } from "./support/lists.ts";
import { makeDriver, makePrinter } from "./support/records.ts";

/** A version of one driver, as lists have it. */
function version(id: number, descriptions: string[], printer_count = 0): Driver & ListedDriver {
  const driverVer = { date: "06/21/2025", version: `1.${id}` };
  return {
    ...makeDriver({ id, sha256: `${id}`.repeat(64), inf: { descriptions, driverVer } }),
    printer_count,
  };
}

function printerOf(driver: Driver, driver_desc = ""): ListedPrinter {
  return { printer: makePrinter({ driver_desc }), client: undefined, driver, arm64Driver: undefined };
}

/** A store of these drivers, which can lose one. */
function storeOf(drivers: readonly Driver[], printers: readonly ListedPrinter[] = []) {
  const there = new Map(drivers.map((driver) => [driver.id, driver]));
  const of = (id: number) => printers.filter(({ driver }) => driver?.id === id);
  const models = (ids: readonly number[]) =>
    ids.flatMap((id) => of(id).map(({ printer }) => ({ ...printer, driver_id: id })));
  const store = {
    drivers: { find: (id: number) => there.get(id) },
    printers: { idsOfDriver: (id: number) => [id], models },
  };
  return { store: store as unknown as Store, there };
}

function newerIds(versions: NewerVersions, drivers: ListedDriver[], printers: ListedPrinter[]) {
  return [...stepped(versions.among(drivers, printers))].map(([id, newer]) => [id, newer.id]);
}

test("a newer version is one that has a model which printers of the older one deploy", () => {
  const old = version(1, ["Papyrus A", "Papyrus B"], 1);
  const next = version(2, ["Papyrus B", "Papyrus C"]);
  const drivers = [next, old];
  const versions = new NewerVersions(storeOf(drivers).store);

  const byDriver = newerIds(versions, drivers, [printerOf(old)]);
  const byOwnChoice = newerIds(versions, drivers, [printerOf(old), printerOf(old, "Papyrus B")]);
  const again = newerIds(versions, drivers, [printerOf(old)]);

  assert.deepEqual(byDriver, [], "the driver's own model is not in it");
  assert.deepEqual(byOwnChoice, [[1, 2]]);
  assert.deepEqual(again, []);
});

test("a universal driver serves the printers of an older universal one, whatever it is called", () => {
  const old = version(1, ["Papyrus Universal PCL 6"], 1);
  const next = version(2, ["Papyrus Universal Print Driver"]);
  const other = version(3, ["Papyrus 300"]);
  const drivers = [other, next, old];

  const found = newerIds(new NewerVersions(storeOf(drivers).store), drivers, [printerOf(old)]);

  assert.deepEqual(found, [[1, 2]]);
});

test("what was deleted while it was compared is found again when it is back", () => {
  const old = version(1, ["Papyrus A"], 1);
  const next = version(2, ["Papyrus A"]);
  const drivers = [next, old];
  const { store, there } = storeOf(drivers);
  const versions = new NewerVersions(store);

  there.delete(2);
  const without = newerIds(versions, drivers, [printerOf(old)]);
  there.set(2, next);
  const back = newerIds(versions, drivers, [printerOf(old)]);

  assert.deepEqual([without, back], [[], [[1, 2]]]);
});

test("older versions are offered where printers use them, with a model of the new one", () => {
  const others = version(1, ["Papyrus X"], 1);
  const byDriver = version(2, ["Papyrus A"], 1);
  const byOwnChoice = version(3, ["Papyrus X", "Papyrus A"], 1);
  const unused = [4, 5, 6, 7].map((id) => version(id, ["Papyrus A"]));
  const newest = version(8, ["Papyrus A"]);
  const drivers = [newest, ...unused, byOwnChoice, byDriver, others];
  const printers = [printerOf(byDriver), printerOf(byOwnChoice, "Papyrus A"), printerOf(others)];

  const older = olderVersions(storeOf(drivers, printers).store, newest, drivers);

  assert.deepEqual(
    older.map(({ id }) => id),
    [3, 2],
  );
});
