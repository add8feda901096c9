import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseDeployment } from "../../src/domain/deploy/deployment-choice.ts";
import { publisherOf } from "../../src/domain/drivers/driver-maker.ts";
import { type Finding, printerFindings, stateOf } from "../../src/domain/printers/findings.ts";
import type { PrinterWithState } from "../../src/domain/printers/listings.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

/** A row in a list of printers. */
function row(
  id: number,
  fields: Record<string, string> = {},
  findings?: readonly Finding[],
): PrinterWithState {
  const printer = makePrinter({ id: String(id), name: `Printer ${id}`, ...fields });
  const driver = makeDriver();
  const found = findings ?? printerFindings(printer, driver, "sound");
  return {
    printer,
    driver,
    arm64Driver: undefined,
    client: { id: 1, name: "Müller" },
    state: stateOf(found),
    findings: found,
    changed: false,
  };
}

const finding = (kind: Finding["kind"], state: Finding["state"] = "blocked"): Finding[] => [
  { kind, state, text: `because of ${kind}` },
];

test("printers that would be refused are left out, and printers that will fail are included only on request", () => {
  const rows = [
    row(1),
    row(2, {}, finding("no-driver")),
    row(3, {}, finding("archive")),
    row(4, {}, finding("incomplete")),
    row(5, {}, finding("missing-files")),
    row(6, {}, finding("unsigned")),
    row(7, {}, finding("lost-model")),
    row(8, {}, finding("unsigned", "attention")),
    row(9, {}, finding("same-address", "attention")),
  ];

  const careful = chooseDeployment(rows);
  const all = chooseDeployment(rows, true);

  const ids = (chosen: readonly PrinterWithState[]) => chosen.map(({ printer }) => printer.id);
  assert.deepEqual(ids(careful.included), [1, 8, 9]);
  assert.deepEqual(
    careful.leftOut.map(({ reason }) => reason.text),
    ["no-driver", "archive", "incomplete", "missing-files", "unsigned", "lost-model"].map(
      (kind) => `because of ${kind}`,
    ),
  );
  assert.deepEqual(ids(all.included), [1, 5, 6, 7, 8, 9]);
  assert.deepEqual(ids(all.leftOut.map((left) => left.row)), [2, 3, 4]);
});

test("of two queues with the same name in any case, the older one is included and the other has a reason", () => {
  const rows = [row(9, { name: "OFFICE", address: "10.0.0.2" }), row(3, { name: "Office" })];

  const { included, leftOut } = chooseDeployment(rows);

  assert.deepEqual(
    included.map(({ printer }) => printer.id),
    [3],
  );
  assert.deepEqual(
    leftOut.map(({ row: { printer }, reason }) => [printer.id, reason.kind]),
    [[9, "same-name"]],
  );
  assert.match(
    leftOut[0]?.reason.text ?? "",
    /printer with this name is in the package: “Office” at 10\.0\.0\.9/,
  );
});

test("a printer that is left out, or has no queue, does not block its name for others", () => {
  const blocked = row(1, { name: "Office" }, finding("unsigned"));
  const drivers = [4, 5].map((id) => row(id, { name: "Office", address: "", port_name: "" }));

  const { included } = chooseDeployment([blocked, row(2, { name: "Office" }), ...drivers]);

  assert.deepEqual(
    included.map(({ printer }) => printer.id),
    [2, 4, 5],
  );
});

test("a publisher is the provider, or the maker that the model begins with, but never a token", () => {
  const publishers = [
    publisherOf("Papyrus", "Ricoh IM C3000"),
    publisherOf("%POS%", "Ricoh IM C3000"),
    publisherOf("%POS%", "Papyrus 100", ["%MFG%", "Papyrus"]),
    publisherOf(" ", "KONICA MINOLTA Universal PCL"),
    publisherOf(null, "hp Universal Printing PCL 6"),
    publisherOf("%POS%", "Starter 100"),
    publisherOf("%POS%", "Something 100", ["Som", ""]),
  ];

  assert.deepEqual(publishers, ["Papyrus", "Ricoh", "Papyrus", "KONICA MINOLTA", "HP", undefined, undefined]);
});
