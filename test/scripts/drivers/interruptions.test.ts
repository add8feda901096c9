import assert from "node:assert/strict";
import { describe } from "node:test";
import { deploymentOf, withoutDrivers } from "../../../src/pkg/scripts/deployment.ts";
import { assertNothingLeft, testInterrupted } from "../../support/drivers/interrupted.ts";
import { driverNamesOf, lastLine, runAll } from "../../support/drivers/script-runs.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { arm64Machine, arm64Model, driverPair } from "../../support/powershell/simulated-arm64.ts";
import { getQueue, papyrusDriver, queue, tcpPort } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";
import { makeDriver } from "../../support/records.ts";

/** The quick tier tries one kind of failure. */
const both = { quick: "error", deep: ["error", "cut"] } as const;
const Users = ["S-1-5-21-1-2-3-1001"];

describe("interrupted runs of a driver's own package", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
  const models = ["Papyrus 100 PCL6", "Papyrus 100 PS"] as const;
  const driver = makeDriver({ inf: { descriptions: models }, trust_publisher: true });
  const own = { driver, models };
  const install = ["install", own] as const;
  const older: Machine = { Drivers: [papyrusDriver("1.0.0.0", "01/01/2020")] };

  testInterrupted(
    windows,
    "install, the next install completes and uninstall leaves nothing",
    { script: install, prepare: () => windows.setMachine(older), moreThan: 15, ...both },
    async (where) => assertNothingLeft(await runAll(windows, own, "install", "detect", "uninstall"), where),
  );

  testInterrupted(
    windows,
    "install, uninstall leaves nothing",
    { script: install, prepare: () => windows.setMachine(), moreThan: 15, ...both, quick: "cut" },
    // A package that was staged without its driver stays in the driver store.
    async (where) => assertNothingLeft([await windows.run("uninstall", own)], where, ["papyrus.inf"]),
  );

  const used = { Queues: [queue("Front Desk", "LPT1:", models[1])] };
  testInterrupted(
    windows,
    "uninstall, the next one removes all but a driver in use",
    {
      script: ["uninstall", own],
      prepare: () => windows.install(used, own),
      moreThan: 10,
      ...both,
    },
    async (where) => {
      const spared = await windows.run("uninstall", own);
      await windows.changeMachine({ Queues: [] });
      const cleaned = await windows.run("uninstall", own);

      assert.deepEqual([spared.code, driverNamesOf(spared)], [0, [models[1]]], where);
      assert.match(lastLine(spared), /stays: Front Desk uses it$/, where);
      assertNothingLeft([cleaned], where);
    },
  );

  const apart = withoutDrivers(deploymentOf(deployable({ driver_desc: models[1] }, driver)));
  testInterrupted(
    windows,
    "a printer without its driver, install completes and both uninstalls leave nothing",
    {
      script: ["install", apart],
      prepare: () => windows.install({}, own),
      moreThan: 15,
      deep: ["cut"],
    },
    async (where) => {
      const runs = await runAll(windows, apart, "install", "detect", "uninstall");

      assertNothingLeft([...runs, await windows.run("uninstall", own)], where);
    },
  );
});

describe("interrupted runs with a driver for ARM64, and with a driver that Windows includes", {
  skip: withoutPowerShell,
}, () => {
  const windows = simulatedWindows();
  const fields = { duplex: "long_edge", set_default: "on", shared: "on", replaces: "Old", snmp: "on" };
  const pair = driverPair(fields, {}, { trust_publisher: true });
  const machine: Machine = {
    ...{ ...arm64Machine, Users },
    Queues: [queue("Old", "OLD_1", arm64Model)],
    Ports: [{ Name: "LPT1:" }, tcpPort("OLD_1", "10.0.0.1"), tcpPort("IP_10.0.0.9", "10.9.9.9")],
    Drivers: [{ Name: arm64Model, Version: "1.0.0.0", Date: "01/01/2020" }],
  };

  testInterrupted(
    windows,
    "install on ARM64, the next install completes and uninstall leaves nothing",
    {
      script: ["install", pair],
      prepare: () => windows.setMachine(machine),
      moreThan: 40,
      ...both,
    },
    async (where, broken) => {
      const runs = await runAll(windows, pair, "install", "detect", "uninstall");

      assertNothingLeft(runs, where);
      assert.deepEqual([getQueue(runs[0]).DriverName, broken.left], [arm64Model, 0], where);
    },
  );

  const plain = driverPair({ set_default: "on" }, {}, { trust_publisher: true });
  testInterrupted(
    windows,
    "uninstall on ARM64, the next uninstall leaves nothing",
    {
      script: ["uninstall", plain],
      prepare: () => windows.install({ ...arm64Machine, Users }, plain),
      moreThan: 10,
      deep: ["error"],
    },
    // The package of a driver that was removed before the failure stays in the driver store.
    async (where) => assertNothingLeft([await windows.run("uninstall", plain)], where, ["arm.inf"]),
  );

  const label = windowsDeployable({ set_default: "on" }, "Generic / Text Only");
  testInterrupted(
    windows,
    "install with Windows' own driver, the next install completes and uninstall leaves nothing",
    {
      script: ["install", label],
      prepare: () => windows.setMachine({ Users }),
      moreThan: 15,
      ...both,
      quick: "cut",
    },
    async (where) => assertNothingLeft(await runAll(windows, label, "install", "detect", "uninstall"), where),
  );
});
