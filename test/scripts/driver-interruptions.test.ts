import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { deploymentApart, deploymentOf } from "../../src/pkg/scripts/deployment.ts";
import type { DriverDeployment } from "../../src/pkg/scripts/driver-deployment.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  Simulation,
  withoutPowerShell,
} from "../support/powershell.ts";
import { makeDriver } from "../support/records.ts";
import { papyrus, queue, traces } from "../support/simulated-machine.ts";

const models = ["Papyrus 100 PCL6", "Papyrus 100 PS"] as const;
const driver = makeDriver({ inf: { descriptions: models }, trust_publisher: true });
const ownPackage: DriverDeployment = { driver, models };
const older: Machine = { Drivers: [papyrus("1.0.0.0", "01/01/2020")] };

describe("interrupted runs of a driver's own package", { skip: withoutPowerShell }, () => {
  let windows: Simulation;
  before(() => {
    windows = new Simulation();
  });
  after(() => windows.close());

  function assertDone(result: RunResult, where: string): void {
    assert.equal(result.code, 0, `${where}: ${result.output.join(" ")}`);
    assert.deepEqual(result.errors, [], where);
  }

  for (const failWith of ["error", "cut"] as const) {
    test(`a failure (${failWith}) at every call of install in turn: the next heals, and uninstall leaves no trace`, async () => {
      await windows.machine(older);
      const whole = await windows.run("install", ownPackage);
      assertDone(whole, "undisturbed");

      for (let failAt = 1; failAt <= whole.calls.length; failAt++) {
        await windows.machine(older);
        const broken = await windows.run("install", ownPackage, { failAt, failWith });
        const healed = await windows.run("install", ownPackage);
        const detected = await windows.run("detect", ownPackage);
        const removed = await windows.run("uninstall", ownPackage);

        const where = `call ${failAt} of ${whole.calls.length}, ${broken.calls[failAt - 1]}`;
        for (const result of [healed, detected, removed]) assertDone(result, where);
        assert.deepEqual(broken.errors, [], where);
        assert.deepEqual([traces(removed), removed.machine.Publishers], [[], []], where);
        assert.deepEqual(removed.machine.Store, [], where);
      }
      assert.ok(whole.calls.length > 15, `${whole.calls.length} calls`);
    });

    test(`a failure (${failWith}) at every call of install, then uninstall at once: nothing stays but what was there`, async () => {
      await windows.machine();
      const whole = await windows.run("install", ownPackage);

      for (let failAt = 1; failAt <= whole.calls.length; failAt++) {
        await windows.machine();
        const broken = await windows.run("install", ownPackage, { failAt, failWith });
        const removed = await windows.run("uninstall", ownPackage);

        const where = `call ${failAt} of ${whole.calls.length}, ${broken.calls[failAt - 1]}`;
        assertDone(removed, where);
        assert.deepEqual([traces(removed), removed.machine.Publishers], [[], []], where);
      }
    });

    test(`a failure (${failWith}) at every call of uninstall in turn: the next one cleans, and spares what a queue uses`, async () => {
      const used = { Queues: [queue("Front Desk", "LPT1:", models[1])] };
      await windows.installed(used, ownPackage);
      const whole = await windows.run("uninstall", ownPackage);

      for (let failAt = 1; failAt <= whole.calls.length; failAt++) {
        await windows.installed(used, ownPackage);
        const broken = await windows.run("uninstall", ownPackage, { failAt, failWith });
        const spared = await windows.run("uninstall", ownPackage);
        await windows.change({ Queues: [] });
        const cleaned = await windows.run("uninstall", ownPackage);

        const where = `call ${failAt} of ${whole.calls.length}, ${broken.calls[failAt - 1]}`;
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
    await windows.installed({}, ownPackage);
    const whole = await windows.run("install", office);

    for (let failAt = 1; failAt <= whole.calls.length; failAt++) {
      await windows.installed({}, ownPackage);
      const broken = await windows.run("install", office, { failAt, failWith: "cut" });
      const healed = await windows.run("install", office);
      const detected = await windows.run("detect", office);
      const removed = await windows.run("uninstall", office);
      const cleaned = await windows.run("uninstall", ownPackage);

      const where = `call ${failAt} of ${whole.calls.length}, ${broken.calls[failAt - 1]}`;
      for (const result of [healed, detected, removed, cleaned]) assertDone(result, where);
      assert.deepEqual([traces(cleaned), cleaned.machine.Store], [[], []], where);
    }
  });
});
