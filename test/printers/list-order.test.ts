import assert from "node:assert/strict";
import { test } from "node:test";
import { sortByName } from "../../src/domain/folding.ts";
import type { State } from "../../src/domain/printers/findings.ts";
import { keepsClients, parseSort, sortPrinters } from "../../src/domain/printers/list-order.ts";
import type { PrinterWithState } from "../../src/domain/printers/listings.ts";
import { makePrinter } from "../support/records.ts";

function rowOf(
  name: string,
  address: string,
  { client = "Alpha", state = "ready" as State, updated_at = 0 } = {},
): PrinterWithState {
  return {
    state,
    changed: false,
    findings: [],
    printer: { ...makePrinter({ name, address, port_name: "" }), updated_at },
    client: client === "" ? undefined : { id: client.length, name: client },
    driver: undefined,
    arm64Driver: undefined,
  };
}

const namesOf = (rows: readonly PrinterWithState[], sort?: string) =>
  sortPrinters(rows, parseSort(sort ?? "")).map(({ printer }) => printer.name);

test("numbers in names sort by value, without regard to case and accents, within each client", () => {
  const rows = [
    rowOf("Printer 10", "10.0.0.1"),
    rowOf("printer 9", "10.0.0.2"),
    rowOf("Ärzte", "10.0.0.3", { client: "Site 10" }),
    rowOf("Zelle", "10.0.0.4", { client: "Site 9" }),
    rowOf("Bare", "10.0.0.5", { client: "" }),
    rowOf("Bericht", "10.0.0.6", { client: "Site 10" }),
  ];

  const usual = namesOf(rows);
  const reversed = namesOf(rows, "-name");

  assert.deepEqual(usual, ["printer 9", "Printer 10", "Zelle", "Ärzte", "Bericht", "Bare"]);
  assert.deepEqual(reversed, ["Printer 10", "printer 9", "Zelle", "Bericht", "Ärzte", "Bare"]);
});

test("addresses sort by the numbers in them, and printers without one come last", () => {
  const rows = [
    rowOf("c", "10.0.0.10"),
    rowOf("d", "192.168.1.1"),
    rowOf("e", ""),
    rowOf("b", "10.0.0.9"),
    rowOf("a", "9.255.255.255"),
  ];

  const sorted = namesOf(rows, "address");

  assert.deepEqual(sorted, ["a", "b", "c", "d", "e"]);
});

test("the worst state and the newest change come first across all clients, and reversed last", () => {
  const rows = [
    rowOf("a", "", { client: "Alpha", state: "ready", updated_at: 2 }),
    rowOf("b", "", { client: "Be", state: "blocked", updated_at: 1 }),
    rowOf("c", "", { client: "Gam", state: "attention", updated_at: 3 }),
    rowOf("d", "", { client: "Alpha", state: "blocked", updated_at: 1 }),
  ];

  const found = ["state", "-state", "changed", "-changed"].map((sort) => namesOf(rows, sort).join(""));

  assert.deepEqual(found, ["dbca", "acdb", "cadb", "dbac"]);
});

test("two hundred digits in a name are sorted, and unknown sorts are ignored", () => {
  const rows = [rowOf(`P ${"9".repeat(200)}`, ""), rowOf("P 1", "")];

  const sorted = namesOf(rows, "toString");

  assert.equal(sorted[0], "P 1");
  assert.deepEqual(["--name", "Name", "name,", ""].map(parseSort), [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  assert.deepEqual(
    [undefined, "-address", "state", "-changed"].map((sort) => keepsClients(parseSort(sort ?? ""))),
    [true, true, false, false],
  );
});

test("clients and drivers are listed in the natural order of their names", () => {
  const records = ["Filiale 10", "filiale 9", "Übersee", "Zoo"].map((name) => ({ name }));

  const sorted = sortByName([...records].reverse()).map(({ name }) => name);

  assert.deepEqual(sorted, ["filiale 9", "Filiale 10", "Übersee", "Zoo"]);
});
