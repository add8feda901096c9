import assert from "node:assert/strict";
import { describe } from "node:test";
import { deploymentOf, withoutDrivers } from "../../src/pkg/scripts/deployment.ts";
import type { ScriptKind } from "../../src/pkg/scripts/render.ts";
import type { Deployed } from "../support/audit/deployed.ts";
import { driverOnly, pcl, ps } from "../support/drivers/driver-only.ts";
import { assertNothingLeft, testInterrupted } from "../support/drivers/interrupted.ts";
import { device, ippUrl, windowsDeployable, withIppQueue } from "../support/powershell/ipp-machine.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  withoutPowerShell,
} from "../support/powershell/powershell.ts";
import { arm64Machine, arm64Model, driverPair } from "../support/powershell/simulated-arm64.ts";
import {
  getQueue,
  markerPath,
  papyrusDriver,
  queue,
  tcpPort,
  traces,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { usersMachine, usersPrinter } from "../support/powershell/users-machine.ts";
import { makeDriver } from "../support/records.ts";

type Failures = Pick<Parameters<typeof testInterrupted>[2], "quick" | "deep">;
/** The quick tier tries one kind of failure. */
const errorFirst: Failures = { quick: "error", deep: ["error", "cut"] };
const cutFirst: Failures = { quick: "cut", deep: ["error", "cut"] };

const Users = ["S-1-5-21-1-2-3-1001"];
const oldQueue = (driver?: string) => queue("Old", "OLD_1", driver);
const oldPort = tcpPort("OLD_1", "10.0.0.1");
const everything = { duplex: "long_edge", set_default: "on", shared: "on", replaces: "Old" };
const older = { Drivers: [papyrusDriver("1.0.0.0", "01/01/2020")] };
const wrongPorts = [{ Name: "LPT1:" }, oldPort, tcpPort("IP_10.0.0.9", "10.9.9.9")];

const printer = deployable({ ...everything, snmp: "on" }, { trust_publisher: true });
const pair = driverPair({ ...everything, snmp: "on" }, {}, { trust_publisher: true });
const label = windowsDeployable({ set_default: "on" }, "Generic / Text Only");
const driver = makeDriver({ inf: { descriptions: [pcl, ps] }, trust_publisher: true });
const own = { ...driverOnly(pcl, ps), driver };
const apart = withoutDrivers(deploymentOf(deployable({ driver_desc: ps }, driver)));
const driverless = windowsDeployable(everything);
const onlyQueue = windowsDeployable();
const Devices = [device()];
/** A machine with a TCP/IP printer that becomes an IPP printer, and an old queue. */
const beforeIpp: Machine = {
  Users,
  Devices,
  Queues: [oldQueue(), queue("Office", "IP_10.0.0.9")],
  Ports: [{ Name: "LPT1:" }, oldPort, tcpPort("IP_10.0.0.9")],
  Registry: {
    [markerPath]: { Queue: "Office", PortName: "IP_10.0.0.9", Revision: "000000000000" },
    "HKLM:\\SOFTWARE\\Platen\\Ports": { "IP_10.0.0.9": "7" },
  },
};

describe("interrupted runs on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  async function runAll<K extends ScriptKind[]>(what: Deployed, ...kinds: K) {
    const results: RunResult[] = [];
    for (const kind of kinds) results.push(await windows.run(kind, what));
    return results as { [I in keyof K]: RunResult };
  }

  const beforePrinter = { ...older, Users, Queues: [oldQueue()], Ports: wrongPorts };
  const renaming = { ...beforeIpp, IgnoresQueueName: true };
  const onArm: Machine = {
    ...{ ...arm64Machine, Users, Ports: wrongPorts },
    Queues: [oldQueue(arm64Model)],
    Drivers: [{ Name: arm64Model, Version: "1.0.0.0", Date: "01/01/2020" }],
  };
  const healed: [what: string, Deployed, Machine, queues: string[], moreThan: number, Failures][] = [
    ["a printer", printer, beforePrinter, ["Office"], 40, errorFirst],
    ["a driver’s own package", own, older, [], 15, errorFirst],
    ["a printer with a driver for ARM64", pair, onArm, ["Office"], 40, errorFirst],
    ["a printer with Windows' own driver", label, { Users }, ["Office"], 15, cutFirst],
    ["an IPP printer", driverless, beforeIpp, ["Office"], 40, errorFirst],
    ["an IPP printer that Windows renames", driverless, renaming, ["Office"], 40, cutFirst],
  ];
  for (const [what, deployed, machine, queues, moreThan, failures] of healed) {
    testInterrupted(
      windows,
      `install of ${what}, the next install completes and uninstall leaves nothing`,
      { script: ["install", deployed], prepare: () => windows.setMachine(machine), moreThan, ...failures },
      async (where, broken) => {
        const runs = await runAll(deployed, "install", "detect", "uninstall");

        assertNothingLeft(runs, where);
        const names = runs[0].machine.Queues.map(({ Name }) => Name);
        assert.deepEqual([names, broken.left], [queues, 0], where);
      },
    );
  }

  // The package of a driver that was staged without its driver, or whose driver is already removed, stays in the store.
  const byDefault = deployable({ set_default: "on" }, { trust_publisher: true });
  const armByDefault = driverPair({ set_default: "on" }, {}, { trust_publisher: true });
  const armUsers = { ...arm64Machine, Users };
  const onlyErrors: Failures = { quick: "error", deep: ["error"] };
  const prepared = (what: Deployed, machine: Machine) => () => windows.install(machine, what);
  type Removed = [what: string, Deployed, () => Promise<unknown>, stored: string[], Failures];
  const removed: Removed[] = [
    ["install of a driver’s own package", own, () => windows.setMachine(), ["papyrus.inf"], cutFirst],
    ["uninstall", byDefault, prepared(byDefault, { Users }), ["papyrus.inf"], onlyErrors],
    ["uninstall on ARM64", armByDefault, prepared(armByDefault, armUsers), ["arm.inf"], { deep: ["error"] }],
    ["uninstall of an IPP printer", onlyQueue, prepared(onlyQueue, { Devices }), [], onlyErrors],
  ];
  for (const [what, deployed, prepare, stored, failures] of removed) {
    testInterrupted(
      windows,
      `${what}, uninstall leaves nothing`,
      {
        script: [what.startsWith("install") ? "install" : "uninstall", deployed],
        prepare,
        moreThan: 10,
        ...failures,
      },
      async (where) => assertNothingLeft([await windows.run("uninstall", deployed)], where, stored),
    );
  }

  testInterrupted(
    windows,
    "install of an IPP printer, uninstall leaves nothing of ours",
    {
      script: ["install", onlyQueue],
      prepare: () => windows.setMachine(beforeIpp),
      moreThan: 20,
      quick: "cut",
      deep: ["cut"],
    },
    async (where) => {
      const result = await windows.run("uninstall", onlyQueue);

      const left = traces(result).filter((trace) => !/Old|OLD_1/.test(trace));
      assert.deepEqual([result.code, left], [0, []], where);
    },
  );

  testInterrupted(
    windows,
    "uninstall of a driver’s own package, the next one removes all but a driver in use",
    {
      script: ["uninstall", own],
      prepare: () => windows.install({ Queues: [queue("Front Desk", "LPT1:", ps)] }, own),
      moreThan: 10,
      ...errorFirst,
    },
    async (where) => {
      const spared = await windows.run("uninstall", own);
      await windows.changeMachine({ Queues: [] });
      const cleaned = await windows.run("uninstall", own);

      const drivers = spared.machine.Drivers.map(({ Name }) => Name);
      assert.deepEqual([spared.code, drivers], [0, [ps]], where);
      assert.match(spared.output.at(-1) ?? "", /stays: Front Desk uses it$/, where);
      assertNothingLeft([cleaned], where);
    },
  );

  testInterrupted(
    windows,
    "install of a printer without its driver, install completes and both uninstalls leave nothing",
    { script: ["install", apart], prepare: () => windows.install({}, own), moreThan: 15, deep: ["cut"] },
    async (where) => {
      const runs = await runAll(apart, "install", "detect", "uninstall");

      assertNothingLeft([...runs, await windows.run("uninstall", own)], where);
    },
  );

  const newer = { ...papyrusDriver("2.0.0.0", "01/01/2026"), IsStored: true };
  const exact = deployable({}, { exact_version: true });
  testInterrupted(
    windows,
    "an exchange of a driver, the next run completes, and every queue has its driver",
    {
      script: ["install", exact],
      prepare: () =>
        windows.setMachine({
          Queues: [queue("Front", "LPT1:"), queue("Label", "LPT1:", "Another")],
          Drivers: [newer],
        }),
      moreThan: 30,
      ...errorFirst,
    },
    async (where) => {
      const { machine, code, left } = await windows.run("install", exact);

      const queues = machine.Queues.map(({ Name, DriverName }) => `${Name}: ${DriverName}`).sort();
      const version = machine.Drivers.find(({ Name }) => Name === pcl)?.Version;
      assert.deepEqual(queues, [`Front: ${pcl}`, "Label: Another", `Office: ${pcl}`], where);
      const records = Object.keys(machine.Registry).filter((key) => key.includes("Exchange"));
      assert.deepEqual([code, version, records, left], [0, "1.2.3.4", [], 0], where);
    },
  );

  testInterrupted(
    windows,
    "a change of URL, detect with the old settings finds the old queue or none",
    {
      script: ["install", windowsDeployable({ ipp_path: "/ipp/port1" })],
      // A duplicate keeps the port, so the port's name does not show the change.
      prepare: async () => {
        await windows.install(withIppQueue("Double"), onlyQueue);
        await windows.changeMachine({ Devices: [device({ PortName: "WSD-1", Path: "/ipp/port1" })] });
      },
      moreThan: 10,
      quick: "cut",
      quickAt: [0, 1],
      deep: ["cut"],
    },
    async (where) => {
      const detected = await windows.run("detect", onlyQueue);

      if (detected.code === 0) assert.equal(getQueue(detected).Url, ippUrl, where);
      const [, call, count] = /^call (\d+) of (\d+)/.exec(where) ?? [];
      if (call === "1") assert.equal(detected.code, 0, where);
      if (call === count) assert.equal(detected.code, 1, where);
    },
  );

  const machines: RunResult["machine"][] = [];
  testInterrupted(
    windows,
    "install of a printer with a ticket and users’ settings, the next one completes it",
    {
      script: ["install", usersPrinter],
      // The second time, this is the machine after a whole run.
      prepare: async () => {
        machines.push((await windows.request<Pick<RunResult, "machine">>({ do: "state" })).machine);
        await windows.setMachine(usersMachine);
      },
      moreThan: 60,
      quickAt: [0.8],
      ...cutFirst,
    },
    async (where) => {
      const [again, second, gone] = await runAll(usersPrinter, "install", "install", "uninstall");

      const [, whole = again.machine] = machines;
      assert.deepEqual(finalState(again.machine), finalState(whole), where);
      assert.ok(logonDeletesTheRest(again), where);
      assert.deepEqual(second.output, ["Installed: Office: nothing to change"], where);
      assertNothingLeft([again, gone], where);
    },
  );
});

/** A user's own preferences. */
const ownPreferences = /^HKEY_USERS\\[^\\]+\\Printers\\DevModePerUser$/;
/** The record of what log-on need not do again for a user. */
const logonRecord = /^HKEY_USERS\\.*\\Platen(?:\\|$)/;

/** The state after a run, without times and without user values that the command at log-on can still delete. */
function finalState({ Queues, Ports, Registry }: RunResult["machine"]): unknown {
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
