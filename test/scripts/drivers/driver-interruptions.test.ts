import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentApart, deploymentOf } from "../../../src/pkg/scripts/deployment.ts";
import type { DriverDeployment } from "../../../src/pkg/scripts/driver-deployment.ts";
import { interrupted } from "../../support/powershell/interruptions.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  withoutPowerShell,
} from "../../support/powershell/powershell.ts";
import { papyrus, queue, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";
import { makeDriver } from "../../support/records.ts";

const models = ["Papyrus 100 PCL6", "Papyrus 100 PS"] as const;
const driver = makeDriver({ inf: { descriptions: models }, trust_publisher: true });
const ownPackage: DriverDeployment = { driver, models };
const older: Machine = { Drivers: [papyrus("1.0.0.0", "01/01/2020")] };

describe("interrupted runs of a driver's own package", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  function assertDone(result: RunResult, where: string): void {
    assert.equal(result.code, 0, `${where}: ${result.output.join(" ")}`);
  }

  for (const failWith of ["error", "cut"] as const) {
    test(`a failure (${failWith}) at every call of install in turn: the next heals, and uninstall leaves no trace`, async () => {
      const runs = interrupted(windows, ["install", ownPackage], {
        prepare: () => windows.machine(older),
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

    test(`a failure (${failWith}) at every call of install, then uninstall at once: nothing stays but what was there`, async () => {
      const runs = interrupted(windows, ["install", ownPackage], {
        prepare: () => windows.machine(),
        moreThan: 15,
        failWith,
      });

      for await (const { where } of runs) {
        const removed = await windows.run("uninstall", ownPackage);

        assertDone(removed, where);
        assert.deepEqual([traces(removed), removed.machine.Publishers], [[], []], where);
      }
    });

    test(`a failure (${failWith}) at every call of uninstall in turn: the next one cleans, and spares what a queue uses`, async () => {
      const used = { Queues: [queue("Front Desk", "LPT1:", models[1])] };
      const runs = interrupted(windows, ["uninstall", ownPackage], {
        prepare: () => windows.installed(used, ownPackage),
        moreThan: 10,
        failWith,
      });

      for await (const { where } of runs) {
        const spared = await windows.run("uninstall", ownPackage);
        await windows.change({ Queues: [] });
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

  test("a failure at every call of a printer whose driver is apart: the next run heals, and both uninstalls clean", async () => {
    const office = deploymentApart(deploymentOf(deployable({ driver_desc: models[1] }, driver)));
    const runs = interrupted(windows, ["install", office], {
      prepare: () => windows.installed({}, ownPackage),
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
