import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { interrupted } from "../support/powershell/interruptions.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  withoutPowerShell,
} from "../support/powershell/powershell.ts";
import { papyrus, queue, tcp, traces } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { usersMachine, usersPrinter } from "../support/powershell/users-machine.ts";

/** A user's own preferences, and the note that log-on has them to drop no more. */
const ownPreferences = /^HKEY_USERS\\[^\\]+\\Printers\\DevModePerUser$/;
const droppedNote = /^HKEY_USERS\\.*\\Active Setup(?:\\|$)/;

/** What a run leaves behind, without the times of it, and without what is left to log-on where it fails. */
function lasting({ machine }: RunResult): unknown {
  const { Queues, Ports, Registry } = machine;
  const dated = ["Version", "Deployed"];
  const keys = Object.entries(Registry)
    .filter(([key]) => !ownPreferences.test(key) && !droppedNote.test(key))
    .map(([key, values]) => [key, Object.entries(values).filter(([name]) => !dated.includes(name))]);
  return { Queues, Ports, keys };
}

/** Whether log-on drops a user's own preferences that are still there. */
function logonDropsTheRest({ machine }: RunResult): boolean {
  const keys = Object.entries(machine.Registry);
  const isLeft = keys.some(([key, { Office }]) => ownPreferences.test(key) && Office !== undefined);
  return !isLeft || !keys.some(([key]) => droppedNote.test(key) && key.endsWith("-reset"));
}

describe("interrupted runs on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

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
      const runs = interrupted(windows, ["install", office], {
        prepare: () => windows.machine(machine),
        moreThan: 40,
        failWith,
      });

      for await (const { broken, where } of runs) {
        const healed = await windows.run("install", office);
        const detected = await windows.run("detect", office);
        const removed = await windows.run("uninstall", office);

        assert.equal(healed.code, 0, `${where}: ${healed.output.join(" ")}`);
        assert.equal(detected.code, 0, `${where}: ${detected.output.join(" ")}`);
        assert.equal(removed.code, 0, `${where}: ${removed.output.join(" ")}`);
        assert.deepEqual(traces(removed), [], where);
        assert.deepEqual(removed.machine.Publishers, [], where);
        assert.equal(broken.left, 0, where);
      }
    });
  }

  for (const failWith of ["error", "cut"] as const) {
    test(`a failure (${failWith}) at every call of a printer with a ticket and of users’ settings: the next one heals`, async () => {
      const runs = interrupted(windows, ["install", usersPrinter], {
        prepare: () => windows.machine(usersMachine),
        moreThan: 60,
        failWith,
      });

      for await (const { whole, where } of runs) {
        const healed = await windows.run("install", usersPrinter);
        const detected = await windows.run("detect", usersPrinter);
        const second = await windows.run("install", usersPrinter);
        const removed = await windows.run("uninstall", usersPrinter);

        assert.equal(whole.output.at(-1), "Installed: Office: installed");
        assert.deepEqual(
          [healed.code, detected.code, removed.code],
          [0, 0, 0],
          `${where}: ${healed.output.join(" ")}`,
        );
        assert.deepEqual(lasting(healed), lasting(whole), where);
        assert.ok(logonDropsTheRest(healed), where);
        assert.deepEqual(second.output, ["Installed: Office: nothing to change"], where);
        assert.deepEqual(traces(removed), [], where);
      }
    });
  }

  test("a failure at every call of uninstall in turn: the next one cleans", async () => {
    const office = deployable({ set_default: "on" }, { trust_publisher: true });
    const runs = interrupted(windows, ["uninstall", office], {
      prepare: () => windows.installed({ Users: ["S-1-5-21-1-2-3-1001"] }, office),
      moreThan: 10,
    });

    for await (const { where } of runs) {
      const cleaned = await windows.run("uninstall", office);

      assert.equal(cleaned.code, 0, where);
      assert.deepEqual(traces(cleaned), [], where);
      assert.deepEqual(cleaned.machine.Publishers, [], where);
    }
  });
});
