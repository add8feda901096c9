import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseDeployment } from "../../src/domain/deploy/deployment-choice.ts";
import { publisherOf } from "../../src/domain/drivers/driver-maker.ts";
import { type Finding, printerFindings, stateOf } from "../../src/domain/printers/findings.ts";
import type { PrinterWithState } from "../../src/domain/printers/listings.ts";
import { graphFields } from "../../src/pkg/formats/graph-app.ts";
import {
  type Deployable,
  deploymentOf,
  deploymentOfMany,
  scriptSettings,
  withoutDrivers,
} from "../../src/pkg/scripts/deployment.ts";
import { driverScriptSettings } from "../../src/pkg/scripts/driver-deployment.ts";
import { printersDigest, revisionOf } from "../../src/pkg/scripts/revision.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

/** A printer and its driver. */
function office(
  fields: Record<string, string> = {},
  driver: Parameters<typeof makeDriver>[0] = {},
): Deployable {
  return { printer: makePrinter(fields), driver: makeDriver(driver), arm64Driver: undefined };
}

/** A printer with a second driver for ARM64 and a model of it. */
function pair() {
  const arm64Driver = makeDriver({ id: 2, sha256: "b".repeat(64), inf: { architectures: ["arm64"] } });
  return { ...office({ arm64_driver_desc: "Papyrus ARM" }), arm64Driver };
}

const settingsOf = (deployment: Parameters<typeof scriptSettings>[0]) =>
  scriptSettings(deployment) as {
    readonly Printers: Record<string, unknown>[];
    readonly Drivers: Record<string, unknown>[];
  };
const revisionsIn = (deployment: Parameters<typeof scriptSettings>[0]) =>
  settingsOf(deployment).Printers.map(({ Revision }) => Revision);
const fetchedAlone = new Map([[1, { url: "http://a/drivers/1/files", sha256: "ab".repeat(32) }]]);

test("revisions do not change with a new version of Platen, so no machine reinstalls", () => {
  const many = { protocol: "lpr", lpr_queue: "lp", snmp: "on", shared: "on", duplex: "long_edge" };
  const full = office(
    { ...many, color: "mono", replaces: "a\nb" },
    { trust_publisher: true, driver_desc: "Other" },
  );
  const ofDriver = [["One"], ["One", "Two"]].map(([first = "", ...others]) => {
    const { Printers } = driverScriptSettings({ driver: makeDriver(), models: [first, ...others] });
    return (Printers as { Revision: string }[])[0]?.Revision;
  });

  // If this fails, all deployed machines would reinstall: keep the old revisions, or raise the generation.
  assert.deepEqual([revisionOf(office()), revisionOf(full)], ["4621f1125d34", "1887405aad42"]);
  assert.equal(revisionOf(pair()), "df6138bd4beb");
  assert.deepEqual(ofDriver, ["2040dc6091e3", "2040dc6091e3"], "whichever models printers use");
});

test("options that came later count for the revision only if they are set", () => {
  const none = { permission_sddl: "", keep_printed: "", hold_mismatched: "", requires_reachable: "on" };

  const unset = revisionOf(office(none, { exact_version: false }));
  const set = [
    office({ permission_sddl: "D:(A;;SW;;;WD)" }),
    office({ keep_printed: "on" }),
    office({ hold_mismatched: "on" }),
    office({}, { exact_version: true }),
  ].map(revisionOf);
  const exact = [false, true].map(
    (exact_version) => settingsOf(deploymentOf(office({}, { exact_version }))).Drivers[0]?.ExactVersion,
  );

  assert.equal(unset, revisionOf(office()));
  assert.equal(new Set([unset, ...set]).size, 5);
  assert.deepEqual(exact, [false, true]);
});

test("a second driver changes the revision only with the values that ARM64 machines use", () => {
  const { printer, driver, arm64Driver } = pair();
  const changes = {
    none: { printer, driver, arm64Driver: undefined },
    model: { printer: { ...printer, arm64_driver_desc: "Other" }, driver, arm64Driver },
    content: { printer, driver, arm64Driver: { ...arm64Driver, sha256: "c".repeat(64) } },
    publisher: { printer, driver, arm64Driver: { ...arm64Driver, trust_publisher: true } },
    swapped: { printer, driver: arm64Driver, arm64Driver: driver },
  };
  const renamed = { printer, driver, arm64Driver: { ...arm64Driver, name: "x", id: 9, drop_unused: true } };

  const revision = revisionOf(pair());
  const others = Object.values(changes).map(revisionOf);

  assert.equal(new Set([revision, ...others]).size, 6);
  assert.equal(revisionOf(renamed), revision);
});

test("scripts contain each of two drivers once, and the model and key of the ARM64 driver", () => {
  const both = pair();
  const driversOf = (deployment: Parameters<typeof scriptSettings>[0]) =>
    settingsOf(deployment).Drivers.map(({ Key, Folder }) => `${Key} ${Folder}`);

  const [{ DriverKey, Arm64DriverKey, Arm64DriverName } = {}, ...more] = settingsOf(
    deploymentOf(both),
  ).Printers;
  const folders = driversOf(deploymentOf(both));
  const same = driversOf(deploymentOf({ ...both, arm64Driver: both.driver }));
  const many = driversOf(deploymentOfMany("Client", [both, { ...both, driver: both.arm64Driver }]));

  assert.deepEqual([DriverKey, Arm64DriverKey, Arm64DriverName], ["driver-1", "driver-2", "Papyrus ARM"]);
  assert.deepEqual(more, []);
  assert.deepEqual(folders, ["driver-1 driver", "driver-2 driver-arm64"]);
  assert.deepEqual(same, ["driver-1 driver"]);
  assert.deepEqual(many, ["driver-1 driver\\aaaaaaaaaaaa", "driver-2 driver\\bbbbbbbbbbbb"]);
});

test("the digest of a client's printers changes with a second driver and an exact version", () => {
  const { printer, driver, arm64Driver } = pair();

  const labels = [
    [{ printer, driver, arm64Driver: undefined }],
    [{ printer, driver, arm64Driver }],
    [{ printer, driver, arm64Driver: { ...arm64Driver, sha256: "d".repeat(64) } }],
    [{ printer, driver: { ...driver, exact_version: true }, arm64Driver: undefined }],
  ].map(printersDigest);

  assert.equal(new Set(labels).size, 4);
});

test("a printer has the same revision without its driver, in a client's package and alone", () => {
  const hall = { ...office({ id: "8", name: "Hall" }), driver: makeDriver({ id: 2, trust_publisher: true }) };
  const packed = deploymentOf(office());
  const apart = withoutDrivers(packed);

  const revisions = [
    packed,
    apart,
    deploymentOf(office(), fetchedAlone),
    deploymentOfMany("Client", [office()]),
  ];
  const both = deploymentOfMany("Client", [office(), hall]);

  for (const deployment of revisions) assert.deepEqual(revisionsIn(deployment), ["4621f1125d34"]);
  assert.deepEqual(revisionsIn(both), ["4621f1125d34", revisionOf(hall)]);
  const drivers = [packed, apart].map((deployment) => settingsOf(deployment).Drivers[0]);
  assert.deepEqual([drivers[0]?.Origin, drivers[0]?.Package], ["package", undefined]);
  assert.deepEqual(
    [drivers[1]?.Origin, drivers[1]?.Package],
    ["apart", "Printer driver Papyrus 100 PCL6 1.2"],
  );
});

test("only a script downloaded alone contains the address and digest of the driver's files", () => {
  const [alone] = settingsOf(deploymentOf(office(), fetchedAlone)).Drivers;
  const [packed] = settingsOf(deploymentOf(office())).Drivers;

  assert.deepEqual([alone?.Download, alone?.FilesSha256], ["http://a/drivers/1/files", "AB".repeat(32)]);
  assert.deepEqual([packed?.Download, packed?.FilesSha256], ["", ""]);
});

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
