import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOf, withoutDrivers } from "../../../src/pkg/scripts/deployment.ts";
import type { DriverDeployment } from "../../../src/pkg/scripts/driver-deployment.ts";
import { interruptEachCall } from "../../support/powershell/interruptions.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  withoutPowerShell,
} from "../../support/powershell/powershell.ts";
import { papyrusDriver, queue, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";
import { makeDriver } from "../../support/records.ts";

const models = ["Papyrus 100 PCL6", "Papyrus 100 PS"] as const;
const driver = makeDriver({ inf: { descriptions: models }, trust_publisher: true });
const ownPackage: DriverDeployment = { driver, models };
const older: Machine = { Drivers: [papyrusDriver("1.0.0.0", "01/01/2020")] };

describe("interrupted runs of a driver's own package", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  function assertDone(result: RunResult, where: string): void {
    assert.equal(result.code, 0, `${where}: ${result.output.join(" ")}`);
  }

  for (const failWith of ["error", "cut"] as const) {
    test(`after a failure (${failWith}) at any call of install, the next install completes and uninstall leaves nothing`, async () => {
      const runs = interruptEachCall(windows, ["install", ownPackage], {
        prepare: () => windows.setMachine(older),
        moreThan: 15,
        failWith,
      });

      for await (const { where } of runs) {
        const healed = await windows.run("install", ownPackage);
        const detected = await windows.run("detect", ownPackage);
        const removed = await windows.run("uninstall", ownPackage);

        for (const result of [healed, detected, removed]) assertDone(result, where);
        assert.deepEqual([traces(removed), removed.machine.Publishers], [[], []], where);
        assert.deepEqual(removed.machine.Store, [], where);
      }
    });

    test(`after a failure (${failWith}) at any call of install, uninstall leaves nothing`, async () => {
      const runs = interruptEachCall(windows, ["install", ownPackage], {
        prepare: () => windows.setMachine(),
        moreThan: 15,
        failWith,
      });

      for await (const { where } of runs) {
        const removed = await windows.run("uninstall", ownPackage);

        assertDone(removed, where);
        assert.deepEqual([traces(removed), removed.machine.Publishers], [[], []], where);
      }
    });

    test(`after a failure (${failWith}) at any call of uninstall, the next one removes all but a driver in use`, async () => {
      const used = { Queues: [queue("Front Desk", "LPT1:", models[1])] };
      const runs = interruptEachCall(windows, ["uninstall", ownPackage], {
        prepare: () => windows.install(used, ownPackage),
        moreThan: 10,
        failWith,
      });

      for await (const { where } of runs) {
        const spared = await windows.run("uninstall", ownPackage);
        await windows.changeMachine({ Queues: [] });
        const cleaned = await windows.run("uninstall", ownPackage);

        for (const result of [spared, cleaned]) assertDone(result, where);
        assert.deepEqual(
          spared.machine.Drivers.map(({ Name }) => Name),
          [models[1]],
          where,
        );
        assert.match(spared.output.at(-1) ?? "", /stays: Front Desk uses it$/, where);
        assert.deepEqual([traces(cleaned), cleaned.machine.Store], [[], []], where);
      }
    });
  }

  test("after a failure at any call of a printer without its driver, install completes and both uninstalls leave nothing", async () => {
    const office = withoutDrivers(deploymentOf(deployable({ driver_desc: models[1] }, driver)));
    const runs = interruptEachCall(windows, ["install", office], {
      prepare: () => windows.install({}, ownPackage),
      moreThan: 15,
      failWith: "cut",
    });

    for await (const { where } of runs) {
      const healed = await windows.run("install", office);
      const detected = await windows.run("detect", office);
      const removed = await windows.run("uninstall", office);
      const cleaned = await windows.run("uninstall", ownPackage);

      for (const result of [healed, detected, removed, cleaned]) assertDone(result, where);
      assert.deepEqual([traces(cleaned), cleaned.machine.Store], [[], []], where);
    }
  });
});
