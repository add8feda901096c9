import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseDeployment } from "../../src/domain/deploy/deployment-choice.ts";
import { publisherOf } from "../../src/domain/drivers/driver-maker.ts";
import { type Finding, printerFindings, stateOf } from "../../src/domain/printers/findings.ts";
import type { PrinterWithState } from "../../src/domain/printers/listings.ts";
import { graphFields } from "../../src/pkg/formats/graph-app.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

/** A row in a list of printers. */
function row(
  id: number,
  fields: Record<string, string> = {},
  kind?: Finding["kind"],
  state: Finding["state"] = "blocked",
): PrinterWithState {
  const printer = makePrinter({ id: String(id), name: `Printer ${id}`, ...fields });
  const driver = makeDriver();
  const sound = printerFindings(printer, driver, "sound");
  const findings = kind === undefined ? sound : [{ kind, state, text: `because of ${kind}` }];
  const client = { id: 1, name: "Müller" };
  return {
    printer,
    driver,
    client,
    arm64Driver: undefined,
    state: stateOf(findings),
    findings,
    changed: false,
  };
}

const ids = (rows: readonly PrinterWithState[]) => rows.map(({ printer }) => printer.id);

test("printers that would be refused are left out, and printers that will fail are included only on request", () => {
  const blocked = ["no-driver", "archive", "incomplete", "missing-files", "unsigned", "lost-model"] as const;
  const rows = [
    row(1),
    ...blocked.map((kind, i) => row(i + 2, {}, kind)),
    row(8, {}, "unsigned", "attention"),
    row(9, {}, "same-address", "attention"),
  ];

  const careful = chooseDeployment(rows);
  const all = chooseDeployment(rows, true);

  const reasons = careful.leftOut.map(({ reason }) => reason.text);
  assert.deepEqual(ids(careful.included), [1, 8, 9]);
  assert.deepEqual(
    reasons,
    blocked.map((kind) => `because of ${kind}`),
  );
  assert.deepEqual(ids(all.included), [1, 5, 6, 7, 8, 9]);
  assert.deepEqual(ids(all.leftOut.map((left) => left.row)), [2, 3, 4]);
});

test("of two queues with the same name in any case, the older one is included and the other has a reason", () => {
  const rows = [row(9, { name: "OFFICE", address: "10.0.0.2" }), row(3, { name: "Office" })];

  const { included, leftOut } = chooseDeployment(rows);

  const [{ row: left, reason } = {}, ...more] = leftOut;
  assert.deepEqual([ids(included), more], [[3], []]);
  assert.deepEqual([left?.printer.id, reason?.kind], [9, "same-name"]);
  assert.match(reason?.text ?? "", /printer with this name is in the package: “Office” at 10\.0\.0\.9/);
});

test("a printer that is left out, or has no queue, does not block its name for others", () => {
  const blocked = row(1, { name: "Office" }, "unsigned");
  const drivers = [4, 5].map((id) => row(id, { name: "Office", address: "", port_name: "" }));

  const { included } = chooseDeployment([blocked, row(2, { name: "Office" }), ...drivers]);

  assert.deepEqual(ids(included), [2, 4, 5]);
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

const facts = {
  name: "Office",
  description: "Printer Office",
  publisher: "Papyrus",
  version: "1.2.3.4",
  owner: "",
  machines: ["amd64", "arm64"],
  minimumWindows: "Windows 10 1607",
} as const;

/** An app's fields for Graph. */
const fieldsOf = (changed: object, kind: "printer" | "client" = "printer") =>
  graphFields({ ...facts, ...changed }, { kind }, "a.intunewin");

test("an app's long name is shortened without splitting a character, and machines and Windows have Graph's names", () => {
  const eleven = fieldsOf({ minimumWindows: "Windows 11 21H2" });

  assert.equal(fieldsOf({ name: "a".repeat(256) })?.displayName, "a".repeat(256));
  assert.equal(fieldsOf({ name: `${"a".repeat(254)}😀b` })?.displayName, `${"a".repeat(254)}…`);
  assert.equal(eleven?.allowedArchitectures, "x64,arm64");
  assert.equal(eleven?.minimumSupportedWindowsRelease, "Windows11_21H2");
});

test("a deployment for no machine is no app, and a missing publisher is called unknown", () => {
  const unnamed = { publisher: undefined };

  assert.equal(fieldsOf({ machines: [] }), undefined);
  assert.equal(fieldsOf(unnamed)?.publisher, "Unknown manufacturer");
  assert.equal(fieldsOf(unnamed, "client")?.publisher, "Several manufacturers");
});
