import assert from "node:assert/strict";
import { test } from "node:test";
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
