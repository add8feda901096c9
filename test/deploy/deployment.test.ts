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

test("the revision and a digest of printers change with each value that scripts use, with later options only if set", () => {
  const { printer, driver, arm64Driver } = pair();
  const different = [
    office(),
    office({ permission_sddl: "D:(A;;SW;;;WD)" }),
    office({ keep_printed: "on" }),
    office({ hold_mismatched: "on" }),
    office({}, { exact_version: true }),
    pair(),
    { printer, driver, arm64Driver: undefined },
    { printer: { ...printer, arm64_driver_desc: "Other" }, driver, arm64Driver },
    { printer, driver, arm64Driver: { ...arm64Driver, sha256: "c".repeat(64) } },
    { printer, driver, arm64Driver: { ...arm64Driver, trust_publisher: true } },
    { printer, driver: arm64Driver, arm64Driver: driver },
  ];
  const unset = { permission_sddl: "", keep_printed: "", hold_mismatched: "", requires_reachable: "on" };
  const renamed = { ...pair(), arm64Driver: { ...arm64Driver, name: "x", id: 9, drop_unused: true } };

  const revisions = different.map(revisionOf);
  const digests = different.map((each) => printersDigest([each]));

  assert.equal(
    new Set(revisions).size,
    different.length - 1,
    "without a second driver its model does not count",
  );
  assert.equal(revisions[6], revisions[0]);
  assert.equal(new Set(digests).size, different.length - 1);
  assert.equal(revisionOf(office(unset, { exact_version: false })), revisions[0]);
  assert.equal(revisionOf(renamed), revisionOf(pair()));
});

test("scripts contain each of two drivers once, the model and key of the ARM64 driver, and whether the version is exact", () => {
  const both = pair();
  const driversOf = (deployment: Parameters<typeof scriptSettings>[0]) =>
    settingsOf(deployment).Drivers.map(({ Key, Folder, ExactVersion }) => `${Key} ${Folder} ${ExactVersion}`);
  const exact = office({}, { exact_version: true });

  const [{ DriverKey, Arm64DriverKey, Arm64DriverName } = {}] = settingsOf(deploymentOf(both)).Printers;
  const folders = driversOf(deploymentOf(both));
  const many = driversOf(deploymentOfMany("Client", [both, { ...both, driver: both.arm64Driver }]));

  assert.deepEqual([DriverKey, Arm64DriverKey, Arm64DriverName], ["driver-1", "driver-2", "Papyrus ARM"]);
  assert.deepEqual(folders, ["driver-1 driver false", "driver-2 driver-arm64 false"]);
  assert.deepEqual(many, ["driver-1 driver\\aaaaaaaaaaaa false", "driver-2 driver\\bbbbbbbbbbbb false"]);
  assert.deepEqual(driversOf(deploymentOf(exact)), ["driver-1 driver true"]);
});

test("a printer has the same revision however it is deployed; only a script alone has the driver's address and digest", () => {
  const hall = { ...office({ id: "8", name: "Hall" }), driver: makeDriver({ id: 2, trust_publisher: true }) };
  const packed = deploymentOf(office());
  const download = { url: "http://a/drivers/1/files", sha256: "ab".repeat(32) };
  const each = [packed, withoutDrivers(packed), deploymentOf(office(), new Map([[1, download]]))];

  const both = deploymentOfMany("Client", [office(), hall]);

  for (const deployment of [...each, deploymentOfMany("Client", [office()])])
    assert.deepEqual(revisionsIn(deployment), ["4621f1125d34"]);
  assert.deepEqual(revisionsIn(both), ["4621f1125d34", revisionOf(hall)]);
  const drivers = each.map((deployment) => settingsOf(deployment).Drivers[0] ?? {});
  assert.deepEqual(
    drivers.map(({ Origin, Package, Download, FilesSha256 }) => [Origin, Package, Download, FilesSha256]),
    [
      ["package", undefined, "", ""],
      ["apart", "Printer driver Papyrus 100 PCL6 1.2", "", ""],
      ["package", undefined, download.url, "AB".repeat(32)],
    ],
  );
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

test("printers that would be refused, or have the name of an older one, are left out; those that will fail are on request", () => {
  const blocked = ["no-driver", "archive", "incomplete", "missing-files", "unsigned", "lost-model"] as const;
  const rows = [
    row(1),
    ...blocked.map((kind, i) => row(i + 2, {}, kind)),
    row(8, {}, "unsigned", "attention"),
    row(9, {}, "same-address", "attention"),
    row(11, { name: "OFFICE", address: "10.0.0.2" }),
    row(10, { name: "Office" }),
    // Neither a printer that is left out nor one without a queue blocks its name.
    row(12, { name: "Hall" }, "no-driver"),
    ...[13, 14].map((id) => row(id, { name: "Hall", address: "", port_name: "" })),
    row(15, { name: "Hall" }),
  ];

  const careful = chooseDeployment(rows);
  const all = chooseDeployment(rows, true);

  const sorted = (chosen: readonly PrinterWithState[]) => ids(chosen).sort((a, b) => a - b);
  const reasons = careful.leftOut.map(({ row, reason }) => `${row.printer.id} ${reason.text}`);
  const byName = reasons.filter((reason) => !reason.includes("because of"));
  assert.deepEqual(sorted(careful.included), [1, 8, 9, 10, 13, 14, 15]);
  assert.deepEqual(sorted(all.included), [1, 5, 6, 7, 8, 9, 10, 13, 14, 15]);
  for (const [i, kind] of blocked.entries()) assert.ok(reasons.includes(`${i + 2} because of ${kind}`), kind);
  assert.equal(byName.length, 1);
  assert.match(byName[0] ?? "", /^11 .*printer with this name is in the package: “Office” at 10\.0\.0\.9/);
});

test("a publisher is the provider, or the maker that the model begins with, but never a token", () => {
  for (const [expected, provider, model, names = []] of [
    ["Papyrus", "Papyrus", "Ricoh IM C3000"],
    ["Ricoh", "%POS%", "Ricoh IM C3000"],
    ["Papyrus", "%POS%", "Papyrus 100", ["%MFG%", "Papyrus"]],
    ["KONICA MINOLTA", " ", "KONICA MINOLTA Universal PCL"],
    ["HP", null, "hp Universal Printing PCL 6"],
    [undefined, "%POS%", "Starter 100"],
    [undefined, "%POS%", "Something 100", ["Som", ""]],
  ] as const)
    assert.equal(publisherOf(provider, model, names), expected, model);
});

test("an app's fields for Graph have its names for machines and Windows, a short name and a publisher; no machine is no app", () => {
  const facts = {
    ...{ name: "Office", description: "Printer Office", publisher: "Papyrus", version: "1.2.3.4", owner: "" },
    machines: ["amd64", "arm64"],
    minimumWindows: "Windows 11 21H2",
  } as const;
  const fieldsOf = (changed: object, kind: "printer" | "client" = "printer") =>
    graphFields({ ...facts, ...changed }, { kind }, "a.intunewin");

  const fields = fieldsOf({});

  assert.equal(fieldsOf({ name: "a".repeat(256) })?.displayName, "a".repeat(256));
  const split = `${"a".repeat(254)}😀b`;
  assert.equal(fieldsOf({ name: split })?.displayName, `${"a".repeat(254)}…`, "no character is split");
  assert.equal(fields?.allowedArchitectures, "x64,arm64");
  assert.equal(fields?.minimumSupportedWindowsRelease, "Windows11_21H2");
  assert.equal(fieldsOf({ machines: [] }), undefined);
  assert.equal(fieldsOf({ publisher: undefined })?.publisher, "Unknown manufacturer");
  assert.equal(fieldsOf({ publisher: undefined }, "client")?.publisher, "Several manufacturers");
});
