import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deepTest } from "../support/depth.ts";
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

const first = deployable(
  { duplex: "long_edge", set_default: "on", shared: "on", replaces: "Old", snmp: "on" },
  { trust_publisher: true },
);
const firstMachine: Machine = {
  Users: ["S-1-5-21-1-2-3-1001"],
  Queues: [queue("Old", "OLD_1")],
  Ports: [{ Name: "LPT1:" }, tcpPort("OLD_1", "10.0.0.1"), tcpPort("IP_10.0.0.9", "10.9.9.9")],
  Drivers: [papyrusDriver("1.0.0.0", "01/01/2020")],
};

describe("interrupted runs on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  for (const [failWith, quickAt] of [
    ["error", 0.5],
    ["cut", 0.8],
  ] as const) {
    test(`after a failure (${failWith}) at any call, install completes and uninstall leaves nothing`, async () => {
      const prepare = () => windows.setMachine(firstMachine);
      const runs = interruptEachCall(windows, ["install", first], {
        prepare,
        moreThan: 40,
        failWith,
        quickAt,
      });

      for await (const { broken, where } of runs) {
        const healed = await windows.run("install", first);
        const detected = await windows.run("detect", first);
        const removed = await windows.run("uninstall", first);

        const codes = [healed.code, detected.code, removed.code];
        assert.deepEqual(codes, [0, 0, 0], `${where}: ${healed.output.join(" ")}`);
        assert.deepEqual([traces(removed), removed.machine.Publishers, broken.left], [[], [], 0], where);
      }
    });

    const testUsers = failWith === "cut" ? test : deepTest;
    testUsers(
      `after a failure (${failWith}) at any call, install completes a printer with a ticket and users’ settings`,
      async () => {
        const prepare = () => windows.setMachine(usersMachine);
        const interruption = { prepare, moreThan: 60, failWith, quickAt };
        const runs = interruptEachCall(windows, ["install", usersPrinter], interruption);

        for await (const { whole, where } of runs) {
          const healed = await windows.run("install", usersPrinter);
          const detected = await windows.run("detect", usersPrinter);
          const second = await windows.run("install", usersPrinter);
          const removed = await windows.run("uninstall", usersPrinter);

          const codes = [healed.code, detected.code, removed.code];
          assert.equal(whole.output.at(-1), "Installed: Office: installed");
          assert.deepEqual(codes, [0, 0, 0], `${where}: ${healed.output.join(" ")}`);
          assert.deepEqual(finalState(healed), finalState(whole), where);
          assert.ok(logonDeletesTheRest(healed), where);
          assert.deepEqual(second.output, ["Installed: Office: nothing to change"], where);
          assert.deepEqual(traces(removed), [], where);
        }
      },
    );
  }

  test("after a failure at any call of uninstall, the next uninstall leaves nothing", async () => {
    const office = deployable({ set_default: "on" }, { trust_publisher: true });
    const prepare = () => windows.install({ Users: ["S-1-5-21-1-2-3-1001"] }, office);
    const interruption = { prepare, moreThan: 10, quickAt: 0.5 };

    for await (const { where } of interruptEachCall(windows, ["uninstall", office], interruption)) {
      const cleaned = await windows.run("uninstall", office);

      assert.deepEqual([cleaned.code, traces(cleaned), cleaned.machine.Publishers], [0, [], []], where);
    }
  });
});
