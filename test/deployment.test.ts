import assert from "node:assert/strict";
import { test } from "node:test";
import { deploymentOf, deploymentOfMany, scriptSettings } from "../src/pkg/scripts/deployment.ts";
import { revisionOf } from "../src/pkg/scripts/revision.ts";
import { makeDriver, makePrinter } from "./support/records.ts";

test("a new version of the service alone never makes a fleet reinstall: the revision stays what it was", () => {
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

  // Where this fails, machines in the field would all install again: keep the old revisions, or raise the generation.
  assert.deepEqual([plain, full], ["4621f1125d34", "1887405aad42"]);
});

test("where a package puts the driver, or where a script comes from, is no part of the revision", () => {
  const office = { printer: makePrinter(), driver: makeDriver(), arm64Driver: undefined };

  const settings = [
    deploymentOf(office),
    deploymentOf(office, new Map([[1, { url: "http://a/drivers/1/files", sha256: "b".repeat(64) }]])),
    deploymentOfMany("Client", [office]),
  ].map((deployment) => scriptSettings(deployment) as { Printers: { Revision: string }[] });

  assert.equal(new Set(settings.map(({ Printers }) => Printers[0]?.Revision)).size, 1);
});

test("a client's printers keep the revisions that they have alone, whatever else the package holds", () => {
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

test("a script fetched alone says where its files are and what they must be, one in a package does not", () => {
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
