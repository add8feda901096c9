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

/** A row of a list, by default ready and without client and driver. */
function rowOf(fields: Record<string, string>, row: Partial<PrinterWithState> = {}): PrinterWithState {
  const printer = makePrinter(fields);
  const usual = { client: undefined, driver: undefined, arm64Driver: undefined };
  return { state: "ready", changed: false, findings: [], printer, ...usual, ...row };
}

const rows = [
  rowOf(
    { id: "1", name: "Büro Straße", location: "Haus 3" },
    { client: { id: 1, name: "Kunde Müller" }, driver: papyrus },
  ),
  rowOf(
    { id: "2", name: "LAGER", address: "10.0.0.10", port_name: "TCP_LAGER" },
    {
      ...{ client: { id: 2, name: "İstanbul Ofisi" }, driver: papyrus },
      ...{ state: "attention", findings: [duplicate] },
    },
  ),
  rowOf(
    { id: "3", name: "مكتب", address: "10.0.0.11" },
    { state: "blocked", findings: [noDriver, duplicate] },
  ),
];

function idsOf(input: Record<string, string>): number[] {
  return narrowPrinters(rows, parseNarrowing(input)).map(({ printer }) => printer.id);
}

test("words are found in all texts of a printer, without regard to case and accents", () => {
  const queries: Record<string, number[]> = {
    büro: [1],
    BURO: [1],
    "buro strasse": [1],
    "10.0.0.9": [1],
    "10.0.0.1": [2, 3],
    tcp_lager: [2],
    "haus 3": [1],
    müller: [1],
    istanbul: [2],
    "papyrus 100": [1, 2],
    z12345l: [1, 2],
    مكتب: [3],
    "müller lager": [],
    "9\nKunde": [1],
    "": [1, 2, 3],
    " \u0301 ": [1, 2, 3],
  };

  const found = Object.keys(queries).map((q) => [q, idsOf({ q })]);

  assert.deepEqual(Object.fromEntries(found), queries);
});

test("a list is narrowed by client, by no client, by state and by kind of finding", () => {
  const inputs = [
    ...[{ client_id: "2" }, { client_id: "none" }, { client_id: "77" }],
    ...[{ state: "ready" }, { state: "attention" }, { state: "same-address" }],
    ...[
      { state: "blocked", client_id: "none", q: "10." },
      { state: "blocked", client_id: "1" },
    ],
  ];

  const found = inputs.map(idsOf);

  assert.deepEqual(found, [[2], [3], [], [1], [2], [2, 3], [3], []]);
});

test("invalid values narrow nothing, and the same rows are returned", () => {
  const clients = [{ client_id: "x" }, { client_id: "-1" }];
  const inputs = [{}, { q: " " }, ...clients, { state: "toString" }, { state: "Ready" }];

  const found = inputs.map((input) => parseNarrowing(input));

  assert.deepEqual(found.map(isNarrowed), Array(6).fill(false));
  assert.ok(found.every((narrowing) => narrowPrinters(rows, narrowing) === rows));
});

test("only the first 200 characters of a query count", () => {
  const q = `büro ${" ".repeat(195)}nothing`;

  assert.equal(parseNarrowing({ q }).q, "büro");
  assert.deepEqual(idsOf({ q }), [1]);
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
  const inputs = [
    ...[{ q: "VELLUM 1.2.3" }, { q: "l17" }, { state: "blocked" }, { client_id: "7" }],
    ...[{ client_id: "none" }, { client_id: "7", state: "blocked" }],
  ];

  const found = [
    ...inputs.map((input) => narrowDrivers(drivers, parseNarrowing(input, "drivers"))),
    narrowClients(clients, { q: "ozdemir kunde" }),
    narrowClients(clients, { q: "a" }),
  ].map((list) => list.length);

  assert.deepEqual(found, [1, 1, 1, 1, 1, 0, 1, 2]);
});

/** A row of the client with this name. */
function sortable(name: string, address: string, client = "Alpha", updated_at = 0): PrinterWithState {
  const row = rowOf(
    { name, address, port_name: "" },
    { client: client === "" ? undefined : { id: client.length, name: client } },
  );
  return { ...row, printer: { ...row.printer, updated_at } };
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

  const usual = namesOf(offices);
  const reversed = namesOf(offices, "-name");

  assert.deepEqual(usual, ["printer 9", "Printer 10", "Zelle", "Ärzte", "Bericht", "Bare"]);
  assert.deepEqual(reversed, ["Printer 10", "printer 9", "Zelle", "Bericht", "Ärzte", "Bare"]);
});

test("addresses sort by the numbers in them, and printers without one come last", () => {
  const addresses = { c: "10.0.0.10", d: "192.168.1.1", e: "", b: "10.0.0.9", a: "9.255.255.255" };

  const sorted = namesOf(
    Object.entries(addresses).map(([name, address]) => sortable(name, address)),
    "address",
  );

  assert.deepEqual(sorted, ["a", "b", "c", "d", "e"]);
});

test("the worst state and the newest change come first across all clients, and reversed last", () => {
  const unsorted = (
    [
      ["a", "Alpha", "ready", 2],
      ["b", "Be", "blocked", 1],
      ["c", "Gam", "attention", 3],
      ["d", "Alpha", "blocked", 1],
    ] as const
  ).map(([name, client, state, updated_at]) => ({
    ...sortable(name, "", client, updated_at),
    state,
  }));

  const found = ["state", "-state", "changed", "-changed"].map((sort) => namesOf(unsorted, sort).join(""));

  assert.deepEqual(found, ["dbca", "acdb", "cadb", "dbac"]);
});

test("two hundred digits in a name are sorted, and unknown sorts are ignored", () => {
  const digits = [sortable(`P ${"9".repeat(200)}`, ""), sortable("P 1", "")];

  assert.equal(namesOf(digits, "toString")[0], "P 1");
  assert.deepEqual(["--name", "Name", "name,", ""].map(parseSort), Array(4).fill(undefined));
  assert.deepEqual(
    ["", "-address", "state", "-changed"].map((sort) => keepsClients(parseSort(sort))),
    [true, true, false, false],
  );
});

test("clients and drivers are listed in the natural order of their names", () => {
  const names = ["filiale 9", "Filiale 10", "Übersee", "Zoo"];

  const sorted = sortByName(names.toReversed().map((name) => ({ name })));

  assert.deepEqual(
    sorted.map(({ name }) => name),
    names,
  );
});
