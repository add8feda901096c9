import assert from "node:assert/strict";
import { test } from "node:test";
import type { PrinterWithState } from "../../src/domain/printers/listings.ts";
import {
  isNarrowed,
  narrowClients,
  narrowDrivers,
  narrowPrinters,
  parseNarrowing,
} from "../../src/domain/printers/search.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

const ready = { state: "ready", changed: false, findings: [] } as const;
const duplicate = { kind: "same-address", state: "attention", text: "twice" } as const;
const noDriver = { kind: "no-driver", state: "blocked", text: "none" } as const;

const papyrus = makeDriver({ file_name: "z12345L17.zip", name: "Papyrus PCL" });
const rows: PrinterWithState[] = [
  {
    ...ready,
    printer: makePrinter({ id: "1", name: "Büro Straße", address: "10.0.0.9", location: "Haus 3" }),
    client: { id: 1, name: "Kunde Müller" },
    driver: papyrus,
    arm64Driver: undefined,
  },
  {
    state: "attention",
    changed: false,
    findings: [duplicate],
    printer: makePrinter({ id: "2", name: "LAGER", address: "10.0.0.10", port_name: "TCP_LAGER" }),
    client: { id: 2, name: "İstanbul Ofisi" },
    driver: papyrus,
    arm64Driver: undefined,
  },
  {
    state: "blocked",
    changed: false,
    findings: [noDriver, duplicate],
    printer: makePrinter({ id: "3", name: "مكتب", address: "10.0.0.11" }),
    client: undefined,
    driver: undefined,
    arm64Driver: undefined,
  },
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
    { client_id: "2" },
    { client_id: "none" },
    { client_id: "77" },
    { state: "ready" },
    { state: "attention" },
    { state: "same-address" },
    { state: "blocked", client_id: "none", q: "10." },
    { state: "blocked", client_id: "1" },
  ];

  const found = inputs.map(idsOf);

  assert.deepEqual(found, [[2], [3], [], [1], [2], [2, 3], [3], []]);
});

test("invalid values narrow nothing, and the same rows are returned", () => {
  const inputs = [
    {},
    { q: " " },
    { client_id: "x" },
    { client_id: "-1" },
    { state: "toString" },
    { state: "Ready" },
  ];

  const found = inputs.map((input) => parseNarrowing(input));

  assert.deepEqual(
    found.map(isNarrowed),
    inputs.map(() => false),
  );
  assert.ok(found.every((narrowing) => narrowPrinters(rows, narrowing) === rows));
});

test("only the first 200 characters of a query count", () => {
  const q = `büro ${" ".repeat(195)}nothing`;

  const narrowing = parseNarrowing({ q });

  assert.equal(narrowing.q, "büro");
  assert.deepEqual(idsOf({ q }), [1]);
});

test("drivers and clients are found by their words, drivers also by the clients that use them", () => {
  const withState = { state: "ready", findings: [] } as const;
  const drivers = [
    { ...papyrus, ...withState, printer_count: 1, clients: new Set([7]), newer: undefined },
    {
      ...makeDriver({ inf: { provider: "Vellum" } }),
      state: "blocked",
      findings: [noDriver],
      printer_count: 1,
      clients: new Set(["none"] as const),
      newer: undefined,
    },
  ] as const;
  const clients = [
    { name: "Kunde Müller", notes: "Frau Özdemir" },
    { name: "Alpha", notes: "" },
  ];

  const found = [
    ...[
      { q: "VELLUM 1.2.3" },
      { q: "l17" },
      { state: "blocked" },
      { client_id: "7" },
      { client_id: "none" },
      { client_id: "7", state: "blocked" },
    ].map((input) => narrowDrivers(drivers, parseNarrowing(input, "drivers"))),
    narrowClients(clients, { q: "ozdemir kunde" }),
    narrowClients(clients, { q: "a" }),
  ].map((list) => list.length);

  assert.deepEqual(found, [1, 1, 1, 1, 1, 0, 1, 2]);
});
