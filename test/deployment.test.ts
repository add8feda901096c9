import assert from "node:assert/strict";
import { test } from "node:test";
import { deploymentOf, deploymentOfMany, revisionOf, scriptSettings } from "../src/pkg/deployment.ts";
import { makeDriver, makePrinter } from "./support/records.ts";

test("a new version of the service alone never makes a fleet reinstall: the revision stays what it was", () => {
  const plain = revisionOf({ printer: makePrinter(), driver: makeDriver() });
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
  });

  // Where this fails, machines in the field would all install again: keep the old revisions, or raise the generation.
  assert.deepEqual([plain, full], ["4621f1125d34", "1887405aad42"]);
});

test("where a package puts the driver, or where a script comes from, is no part of the revision", () => {
  const office = { printer: makePrinter(), driver: makeDriver() };

  const settings = [
    deploymentOf(office),
    deploymentOf(office, "http://a"),
    deploymentOfMany("Client", [office]),
  ].map((deployment) => scriptSettings(deployment) as { Printers: { Revision: string }[] });

  assert.equal(new Set(settings.map(({ Printers }) => Printers[0]?.Revision)).size, 1);
});
