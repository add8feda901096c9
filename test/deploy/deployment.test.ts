import assert from "node:assert/strict";
import { test } from "node:test";
import {
  deploymentOf,
  deploymentOfMany,
  scriptSettings,
  withoutDrivers,
} from "../../src/pkg/scripts/deployment.ts";
import { driverScriptSettings } from "../../src/pkg/scripts/driver-deployment.ts";
import { printersDigest, revisionOf } from "../../src/pkg/scripts/revision.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

test("revisions do not change with a new version of Platen, so no machine reinstalls", () => {
  const plain = revisionOf({ printer: makePrinter(), driver: makeDriver(), arm64Driver: undefined });
  const full = revisionOf({
    printer: makePrinter({
      protocol: "lpr",
      lpr_queue: "lp",
      snmp: "on",
      shared: "on",
      duplex: "long_edge",
      color: "mono",
      replaces: "a\nb",
    }),
    driver: makeDriver({ trust_publisher: true, driver_desc: "Other" }),
    arm64Driver: undefined,
  });

  // If this fails, all deployed machines would reinstall: keep the old revisions, or raise the generation.
  assert.deepEqual([plain, full], ["4621f1125d34", "1887405aad42"]);
});

test("options that came later count for the revision only if they are set", () => {
  const revisionWith = (fields: Record<string, string>, driver: Parameters<typeof makeDriver>[0] = {}) =>
    revisionOf({ printer: makePrinter(fields), driver: makeDriver(driver), arm64Driver: undefined });
  const entryOf = (exact_version: boolean) => {
    const deployable = {
      printer: makePrinter(),
      driver: makeDriver({ exact_version }),
      arm64Driver: undefined,
    };
    const { Drivers } = scriptSettings(deploymentOf(deployable)) as { Drivers: { ExactVersion: unknown }[] };
    return Drivers[0]?.ExactVersion;
  };

  const plain = revisionWith({});
  const unset = revisionWith(
    { permission_sddl: "", keep_printed: "", hold_mismatched: "", requires_reachable: "on" },
    { exact_version: false },
  );
  const set = [
    revisionWith({ permission_sddl: "D:(A;;SW;;;WD)" }),
    revisionWith({ keep_printed: "on" }),
    revisionWith({ hold_mismatched: "on" }),
    revisionWith({}, { exact_version: true }),
  ];

  assert.equal(unset, plain);
  assert.equal(new Set([plain, ...set]).size, 5);
  assert.deepEqual([entryOf(false), entryOf(true)], [false, true]);
});

/** A printer with a second driver for ARM64 and a model of it. */
function pair() {
  const arm64Driver = makeDriver({ id: 2, sha256: "b".repeat(64), inf: { architectures: ["arm64"] } });
  const printer = makePrinter({ arm64_driver_desc: "Papyrus ARM" });
  return { printer, driver: makeDriver(), arm64Driver };
}

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

  // As above: printers with two drivers are deployed too.
  assert.equal(revision, "df6138bd4beb");
  assert.equal(new Set([revision, ...others]).size, 6);
  assert.equal(revisionOf(renamed), revision);
});

test("scripts contain each of two drivers once, and the model and key of the ARM64 driver", () => {
  const office = pair();
  const driversOf = (deployment: Parameters<typeof scriptSettings>[0]) =>
    (scriptSettings(deployment) as { Drivers: Record<string, unknown>[] }).Drivers.map(({ Key, Folder }) => [
      Key,
      Folder,
    ]);

  const { Printers } = scriptSettings(deploymentOf(office)) as { Printers: Record<string, unknown>[] };
  const folders = driversOf(deploymentOf(office));
  const same = driversOf(deploymentOf({ ...office, arm64Driver: office.driver }));
  const many = driversOf(deploymentOfMany("Client", [office, { ...office, driver: office.arm64Driver }]));

  assert.deepEqual(
    Printers.map(({ DriverKey, Arm64DriverKey, Arm64DriverName }) => [
      DriverKey,
      Arm64DriverKey,
      Arm64DriverName,
    ]),
    [["driver-1", "driver-2", "Papyrus ARM"]],
  );
  assert.deepEqual(folders, [
    ["driver-1", "driver"],
    ["driver-2", "driver-arm64"],
  ]);
  assert.deepEqual(same, [["driver-1", "driver"]]);
  assert.deepEqual(many, [
    ["driver-1", "driver\\aaaaaaaaaaaa"],
    ["driver-2", "driver\\bbbbbbbbbbbb"],
  ]);
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

test("the revision of a driver alone does not change with the models that printers use", () => {
  const driver = makeDriver();
  const revisions = [["One"], ["One", "Two"]].map((models) => {
    const [first = "", ...others] = models;
    const { Printers } = driverScriptSettings({ driver, models: [first, ...others] });
    return (Printers as { Revision: string }[])[0]?.Revision;
  });

  // As above: deployed machines compare it.
  assert.deepEqual(revisions, ["2040dc6091e3", "2040dc6091e3"]);
});

test("a printer has the same revision in a package without its driver", () => {
  const office = { printer: makePrinter(), driver: makeDriver(), arm64Driver: undefined };
  const settings = [deploymentOf(office), withoutDrivers(deploymentOf(office))].map(
    (deployment) =>
      scriptSettings(deployment) as { Printers: { Revision: string }[]; Drivers: Record<string, string>[] },
  );

  assert.deepEqual(
    settings.map(({ Printers }) => Printers[0]?.Revision),
    ["4621f1125d34", "4621f1125d34"],
  );
  assert.deepEqual(
    settings.map(({ Drivers }) => [Drivers[0]?.Origin, Drivers[0]?.Package]),
    [
      ["package", undefined],
      ["apart", "Printer driver Papyrus 100 PCL6 1.2"],
    ],
  );
});

test("the driver's folder and the service's address are not part of the revision", () => {
  const office = { printer: makePrinter(), driver: makeDriver(), arm64Driver: undefined };

  const settings = [
    deploymentOf(office),
    deploymentOf(office, new Map([[1, { url: "http://a/drivers/1/files", sha256: "b".repeat(64) }]])),
    deploymentOfMany("Client", [office]),
  ].map((deployment) => scriptSettings(deployment) as { Printers: { Revision: string }[] });

  assert.equal(new Set(settings.map(({ Printers }) => Printers[0]?.Revision)).size, 1);
});

test("printers have the same revisions in a client's package as alone", () => {
  const office = { printer: makePrinter(), driver: makeDriver(), arm64Driver: undefined };
  const hall = {
    printer: makePrinter({ id: "8", name: "Hall" }),
    driver: makeDriver({ id: 2, trust_publisher: true }),
    arm64Driver: undefined,
  };

  const both = scriptSettings(deploymentOfMany("Client", [office, hall])) as {
    Printers: { Revision: string }[];
  };

  assert.deepEqual(
    both.Printers.map(({ Revision }) => Revision),
    ["4621f1125d34", revisionOf(hall)],
  );
});

test("only a script downloaded alone contains the address and digest of the driver's files", () => {
  const office = { printer: makePrinter(), driver: makeDriver(), arm64Driver: undefined };
  const driverOf = (deployment: Parameters<typeof scriptSettings>[0]) =>
    (scriptSettings(deployment) as { Drivers: Record<string, string>[] }).Drivers[0];

  const alone = driverOf(
    deploymentOf(office, new Map([[1, { url: "http://a/drivers/1/files", sha256: "ab".repeat(32) }]])),
  );
  const packed = driverOf(deploymentOf(office));

  assert.deepEqual([alone?.Download, alone?.FilesSha256], ["http://a/drivers/1/files", "AB".repeat(32)]);
  assert.deepEqual([packed?.Download, packed?.FilesSha256], ["", ""]);
});
