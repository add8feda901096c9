import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { needyMachine, needyPrinter } from "../support/needy.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  Simulation,
  withoutPowerShell,
} from "../support/powershell.ts";
import { papyrus, queue, tcp, traces } from "../support/simulated-machine.ts";

/** What a run leaves behind, without the times of it. */
function lasting({ machine }: RunResult): unknown {
  const { Queues, Ports, Registry } = machine;
  const dated = ["Version", "Deployed"];
  const keys = Object.entries(Registry).map(([key, values]) => {
    return [key, Object.entries(values).filter(([name]) => !dated.includes(name))];
  });
  return { Queues, Ports, keys };
}

describe("interrupted runs on a simulated Windows", { skip: withoutPowerShell }, () => {
  let windows: Simulation;
  before(() => {
    windows = new Simulation();
  });
  after(() => windows.close());

  for (const failWith of ["error", "cut"] as const) {
    test(`a failure (${failWith}) at every call in turn: the next installation heals, and uninstall cleans`, async () => {
      const office = deployable(
        { duplex: "long_edge", set_default: "on", shared: "on", replaces: "Old", snmp: "on" },
        { trust_publisher: true },
      );
      const machine: Machine = {
        Users: ["S-1-5-21-1-2-3-1001"],
        Queues: [queue("Old", "OLD_1")],
        Ports: [{ Name: "LPT1:" }, tcp("OLD_1", "10.0.0.1"), tcp("IP_10.0.0.9", "10.9.9.9")],
        Drivers: [papyrus("1.0.0.0", "01/01/2020")],
      };
      await windows.machine(machine);
      const whole = await windows.run("install", office);
      assert.equal(whole.code, 0, whole.output.join());
      const count = whole.calls.length;

      for (let failAt = 1; failAt <= count; failAt++) {
        await windows.machine(machine);
        const broken = await windows.run("install", office, { failAt, failWith });
        const healed = await windows.run("install", office);
        const detected = await windows.run("detect", office);
        const removed = await windows.run("uninstall", office);

        const where = `call ${failAt} of ${count}, ${broken.calls[failAt - 1]}`;
        assert.equal(healed.code, 0, `${where}: ${healed.output.join(" ")}`);
        assert.equal(detected.code, 0, `${where}: ${detected.output.join(" ")}`);
        assert.equal(removed.code, 0, `${where}: ${removed.output.join(" ")}`);
        assert.deepEqual(traces(removed), [], where);
        assert.deepEqual(removed.machine.Publishers, [], where);
        assert.equal(broken.left, 0, where);
      }
      assert.ok(count > 40, `${count} calls`);
    });
  }

  for (const failWith of ["error", "cut"] as const) {
    test(`a failure (${failWith}) at every call of a printer with a ticket and of users’ settings: the next one heals`, async () => {
      await windows.machine(needyMachine);
      const whole = await windows.run("install", needyPrinter);
      assert.equal(whole.output.at(-1), "Installed: Office: installed");
      const count = whole.calls.length;

      for (let failAt = 1; failAt <= count; failAt++) {
        await windows.machine(needyMachine);
        const broken = await windows.run("install", needyPrinter, { failAt, failWith });
        const healed = await windows.run("install", needyPrinter);
        const detected = await windows.run("detect", needyPrinter);
        const second = await windows.run("install", needyPrinter);
        const removed = await windows.run("uninstall", needyPrinter);

        const where = `call ${failAt} of ${count}, ${broken.calls[failAt - 1]}`;
        assert.deepEqual(broken.errors, [], where);
        assert.deepEqual(
          [healed.code, detected.code, removed.code],
          [0, 0, 0],
          `${where}: ${healed.output.join(" ")}`,
        );
        assert.deepEqual(lasting(healed), lasting(whole), where);
        assert.deepEqual(second.output, ["Installed: Office: nothing to change"], where);
        assert.deepEqual(traces(removed), [], where);
      }
      assert.ok(count > 60, `${count} calls`);
    });
  }

  test("a failure at every call of uninstall in turn: the next one cleans", async () => {
    const office = deployable({ set_default: "on" }, { trust_publisher: true });
    await windows.installed({ Users: ["S-1-5-21-1-2-3-1001"] }, office);
    const whole = await windows.run("uninstall", office);

    for (let failAt = 1; failAt <= whole.calls.length; failAt++) {
      await windows.installed({ Users: ["S-1-5-21-1-2-3-1001"] }, office);
      const broken = await windows.run("uninstall", office, { failAt });
      const cleaned = await windows.run("uninstall", office);

      const where = `call ${failAt} of ${whole.calls.length}, ${broken.calls[failAt - 1]}`;
      assert.equal(cleaned.code, 0, where);
      assert.deepEqual(traces(cleaned), [], where);
      assert.deepEqual(cleaned.machine.Publishers, [], where);
    }
  });
});
