import assert from "node:assert/strict";
import { test } from "node:test";
import { sortByName } from "../../src/domain/folding.ts";
import { keepsClients, parseSort, sortPrinters } from "../../src/domain/printers/list-order.ts";
import type { PrinterWithState } from "../../src/domain/printers/listings.ts";
import {
  isNarrowed,
  narrowClients,
  narrowDrivers,
  narrowPrinters,
  parseNarrowing,
} from "../../src/domain/printers/search.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

const duplicate = { kind: "same-address", state: "attention", text: "twice" } as const;
const noDriver = { kind: "no-driver", state: "blocked", text: "none" } as const;
const papyrus = makeDriver({ file_name: "z12345L17.zip", name: "Papyrus PCL" });
const none = { client: undefined, driver: undefined, arm64Driver: undefined };
const ready = { ...none, state: "ready", changed: false, findings: [] } as const;

const rows: PrinterWithState[] = [
  {
    ...{ ...ready, client: { id: 1, name: "Kunde Müller" }, driver: papyrus },
    printer: makePrinter({ id: "1", name: "Büro Straße", location: "Haus 3" }),
  },
  {
    ...{ ...ready, client: { id: 2, name: "İstanbul Ofisi" }, driver: papyrus },
    ...{ state: "attention", findings: [duplicate] },
    printer: makePrinter({ id: "2", name: "LAGER", address: "10.0.0.10", port_name: "TCP_LAGER" }),
  },
  {
    ...{ ...ready, state: "blocked", findings: [noDriver, duplicate] },
    printer: makePrinter({ id: "3", name: "مكتب", address: "10.0.0.11" }),
  },
];

const idsOf = (input: Record<string, string>) =>
  narrowPrinters(rows, parseNarrowing(input))
    .map(({ printer }) => printer.id)
    .join("");

test("words are found in all texts of a printer, without regard to case and accents", () => {
  const queries: Record<string, string> = {
    ...{ büro: "1", BURO: "1", "buro strasse": "1", "10.0.0.9": "1", "10.0.0.1": "23", tcp_lager: "2" },
    ...{ "haus 3": "1", müller: "1", istanbul: "2", "papyrus 100": "12", z12345l: "12", مكتب: "3" },
    ...{ "müller lager": "", "9\nKunde": "1", "": "123", " \u0301 ": "123" },
    // Only the first 200 characters count.
    [`büro ${" ".repeat(195)}nothing`]: "1",
  };

  for (const [q, ids] of Object.entries(queries)) assert.equal(idsOf({ q }), ids, q);
});

test("a list is narrowed by client, by no client, by state and by kind of finding; invalid values narrow nothing", () => {
  const inputs: [input: Record<string, string>, ids: string][] = [
    [{ client_id: "2" }, "2"],
    [{ client_id: "none" }, "3"],
    [{ client_id: "77" }, ""],
    [{ state: "ready" }, "1"],
    [{ state: "attention" }, "2"],
    [{ state: "same-address" }, "23"],
    [{ state: "blocked", client_id: "none", q: "10." }, "3"],
    [{ state: "blocked", client_id: "1" }, ""],
  ];
  const clients = [{ client_id: "x" }, { client_id: "-1" }];
  const invalid = [{}, { q: " " }, ...clients, { state: "toString" }, { state: "Ready" }].map((input) =>
    parseNarrowing(input),
  );

  for (const [input, ids] of inputs) assert.equal(idsOf(input), ids, JSON.stringify(input));
  assert.deepEqual(invalid.map(isNarrowed), Array(6).fill(false));
  for (const narrowing of invalid) assert.equal(narrowPrinters(rows, narrowing), rows);
});

test("drivers and clients are found by their words, drivers also by the clients that use them", () => {
  const usual = { printer_count: 1, newer: undefined };
  const vellum = makeDriver({ inf: { provider: "Vellum" } });
  const drivers = [
    { ...papyrus, ...usual, state: "ready", findings: [], clients: new Set([7]) },
    { ...vellum, ...usual, state: "blocked", findings: [noDriver], clients: new Set(["none"] as const) },
  ] as const;
  const clients = [
    { name: "Kunde Müller", notes: "Frau Özdemir" },
    { name: "Alpha", notes: "" },
  ];
  const makersOf = (input: Record<string, string>) =>
    narrowDrivers(drivers, parseNarrowing(input, "drivers")).map(({ listed }) => listed?.provider);

  assert.deepEqual([{ q: "VELLUM 1.2.3" }, { q: "l17" }].map(makersOf), [["Vellum"], ["Papyrus"]]);
  assert.deepEqual([{ state: "blocked" }, { client_id: "7" }].map(makersOf), [["Vellum"], ["Papyrus"]]);
  assert.deepEqual(makersOf({ client_id: "none" }), ["Vellum"]);
  assert.deepEqual(makersOf({ client_id: "7", state: "blocked" }), []);
  assert.equal(narrowClients(clients, { q: "ozdemir kunde" }).length, 1);
  assert.equal(narrowClients(clients, { q: "a" }).length, 2);
});

/** A row of the client with this name. */
function sortable(name: string, address: string, client = "Alpha", updated_at = 0): PrinterWithState {
  const printer = { ...makePrinter({ name, address, port_name: "" }), updated_at };
  return { ...ready, printer, client: client === "" ? undefined : { id: client.length, name: client } };
}

const namesOf = (sorted: readonly PrinterWithState[], sort = "") =>
  sortPrinters(sorted, parseSort(sort)).map(({ printer }) => printer.name);

test("numbers in names sort by value, without regard to case and accents, within each client", () => {
  const offices = [
    sortable("Printer 10", "10.0.0.1"),
    sortable("printer 9", "10.0.0.2"),
    sortable("Ärzte", "10.0.0.3", "Site 10"),
    sortable("Zelle", "10.0.0.4", "Site 9"),
    sortable("Bare", "10.0.0.5", ""),
    sortable("Bericht", "10.0.0.6", "Site 10"),
  ];
  const names = ["filiale 9", "Filiale 10", "Übersee", "Zoo"].map((name) => ({ name }));
  const digits = [sortable(`P ${"9".repeat(200)}`, ""), sortable("P 1", "")];

  const usual = namesOf(offices);
  const reversed = namesOf(offices, "-name");

  assert.deepEqual(usual, ["printer 9", "Printer 10", "Zelle", "Ärzte", "Bericht", "Bare"]);
  assert.deepEqual(reversed, ["Printer 10", "printer 9", "Zelle", "Bericht", "Ärzte", "Bare"]);
  assert.deepEqual(sortByName(names.toReversed()), names, "clients and drivers too");
  assert.equal(namesOf(digits, "toString")[0], "P 1", "however many digits");
});

test("addresses sort by the numbers in them, printers without one come last, and unknown sorts are ignored", () => {
  const addresses = { c: "10.0.0.10", d: "192.168.1.1", e: "", b: "10.0.0.9", a: "9.255.255.255" };
  const sorts = ["", "-address", "state", "-changed"].map((sort) => keepsClients(parseSort(sort)));

  const printers = Object.entries(addresses).map(([name, address]) => sortable(name, address));

  assert.equal(namesOf(printers, "address").join(""), "abcde");
  assert.deepEqual(["--name", "Name", "name,", ""].map(parseSort), Array(4).fill(undefined));
  assert.deepEqual(sorts, [true, true, false, false]);
});

test("the worst state and the newest change come first across all clients, and reversed last", () => {
  const unsorted: PrinterWithState[] = [
    { ...sortable("a", "", "Alpha", 2), state: "ready" },
    { ...sortable("b", "", "Be", 1), state: "blocked" },
    { ...sortable("c", "", "Gam", 3), state: "attention" },
    { ...sortable("d", "", "Alpha", 1), state: "blocked" },
  ];

  const found = ["state", "-state", "changed", "-changed"].map((sort) => namesOf(unsorted, sort).join(""));

  assert.deepEqual(found, ["dbca", "acdb", "cadb", "dbac"]);
});
