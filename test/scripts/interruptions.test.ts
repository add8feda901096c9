import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { interruptEachCall } from "../support/powershell/interruptions.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  withoutPowerShell,
} from "../support/powershell/powershell.ts";
import { papyrusDriver, queue, tcpPort, traces } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { usersMachine, usersPrinter } from "../support/powershell/users-machine.ts";

/** A user's own preferences. */
const ownPreferences = /^HKEY_USERS\\[^\\]+\\Printers\\DevModePerUser$/;
/** The record of what log-on need not do again for a user. */
const logonRecord = /^HKEY_USERS\\.*\\Platen(?:\\|$)/;

/** The state after a run, without times and without user values that the command at log-on can still delete. */
function finalState({ machine }: RunResult): unknown {
  const { Queues, Ports, Registry } = machine;
  const dated = ["Version", "Deployed", "LogonSince"];
  const keys = Object.entries(Registry)
    .filter(([key]) => !ownPreferences.test(key) && !logonRecord.test(key))
    .map(([key, values]) => [key, Object.entries(values).filter(([name]) => !dated.includes(name))]);
  return { Queues, Ports, keys };
}

/** Whether the command at log-on will still delete all remaining preferences. */
function logonDeletesTheRest({ machine }: RunResult): boolean {
  const keys = Object.entries(machine.Registry);
  const isLeft = keys.some(([key, { Office }]) => ownPreferences.test(key) && Office !== undefined);
  return !isLeft || !keys.some(([key, { Reset }]) => logonRecord.test(key) && Reset !== undefined);
}

describe("interrupted runs on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  for (const failWith of ["error", "cut"] as const) {
    test(`after a failure (${failWith}) at any call, install completes and uninstall leaves nothing`, async () => {
      const office = deployable(
        { duplex: "long_edge", set_default: "on", shared: "on", replaces: "Old", snmp: "on" },
        { trust_publisher: true },
      );
      const machine: Machine = {
        Users: ["S-1-5-21-1-2-3-1001"],
        Queues: [queue("Old", "OLD_1")],
        Ports: [{ Name: "LPT1:" }, tcpPort("OLD_1", "10.0.0.1"), tcpPort("IP_10.0.0.9", "10.9.9.9")],
        Drivers: [papyrusDriver("1.0.0.0", "01/01/2020")],
      };
      const runs = interruptEachCall(windows, ["install", office], {
        prepare: () => windows.setMachine(machine),
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
    test(`after a failure (${failWith}) at any call, install completes a printer with a ticket and users’ settings`, async () => {
      const runs = interruptEachCall(windows, ["install", usersPrinter], {
        prepare: () => windows.setMachine(usersMachine),
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
        assert.deepEqual(finalState(healed), finalState(whole), where);
        assert.ok(logonDeletesTheRest(healed), where);
        assert.deepEqual(second.output, ["Installed: Office: nothing to change"], where);
        assert.deepEqual(traces(removed), [], where);
      }
    });
  }

  test("after a failure at any call of uninstall, the next uninstall leaves nothing", async () => {
    const office = deployable({ set_default: "on" }, { trust_publisher: true });
    const runs = interruptEachCall(windows, ["uninstall", office], {
      prepare: () => windows.install({ Users: ["S-1-5-21-1-2-3-1001"] }, office),
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
