import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOfMany } from "../../../src/pkg/scripts/deployment.ts";
import { selectCases } from "../../support/depth.ts";
import { assertNothingLeft, testInterrupted } from "../../support/drivers/interrupted.ts";
import {
  changing,
  endsOf,
  lastLine,
  queuesOf,
  runAll,
  unchanged,
} from "../../support/drivers/script-runs.ts";
import {
  device,
  ippDriver,
  ippUrl,
  windowsDeployable,
  withIppQueue,
} from "../../support/powershell/ipp-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import {
  findPort,
  getQueue,
  markerPath,
  queue,
  tcpPort,
  traces,
} from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const office = windowsDeployable();

describe("IPP queues on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("install adds the queue with all settings, and a second run does not contact the printer", async () => {
    const fields = { location: "Hall", comment: "2nd floor", shared: "on", share_name: "office" };
    const whole = windowsDeployable({ ...fields, duplex: "long_edge", set_default: "on" });
    const first = await windows.install({ Devices: [device()], Users: ["S-1-5-21-1-2-3-1001"] }, whole);
    const second = await windows.run("install", whole);

    const made = getQueue(first);
    const marker = first.machine.Registry[markerPath];
    assert.deepEqual(
      [made.DriverName, made.Url, made.Location, made.Comment, made.ShareName],
      [ippDriver, ippUrl, "Hall", "2nd floor", "office"],
    );
    assert.equal((made.Configuration as { DuplexingMode: string }).DuplexingMode, "TwoSidedLongEdge");
    assert.deepEqual([marker?.IppUrl, marker?.PortName], [ippUrl, made.PortName]);
    assert.equal(first.calls.includes("Add-PrinterPort") || first.calls.includes("pnputil"), false);
    assert.deepEqual([endsOf(second), changing(second)], [[unchanged], []]);
    assert.deepEqual(second.machine, first.machine);
  });

  for (const IppMonitor of selectCases(["WSD Port Monitor", "IPP Port Monitor", "Internet Port"], 2)) {
    test(`the queue is accepted with the ${IppMonitor}, if Windows chooses that`, async () => {
      const result = await windows.install({ Devices: [device()], IppMonitor }, office);
      const [repeated, removed] = await runAll(windows, office, "install", "uninstall");

      assert.equal(findPort(result, getQueue(result).PortName)?.Monitor, IppMonitor);
      assert.deepEqual(endsOf(repeated), [unchanged]);
      assert.deepEqual([removed.code, traces(removed)], [0, []]);
    });
  }

  test("Windows gets another port, another path and TLS as configured", async () => {
    const fields = { port_number: "443", ipp_path: "/ipp/port1", ipp_tls: "on", address: "fe80::1:2" };
    const Devices = [device({ Port: 443, Path: "/ipp/port1", Tls: true, Address: "fe80::1:2" })];

    const result = await windows.install({ Devices }, windowsDeployable(fields));

    assert.match(String(getQueue(result).Url), /^https:\/\/\[fe80::1:2\](:443)?\/ipp\/port1$/);
  });

  test("protected print mode allows an IPP printer", async () => {
    const wpp = "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers\\WPP";
    const Registry = { [wpp]: { WindowsProtectedPrintMode: 1 } };

    const result = await windows.install({ Devices: [device()], Registry }, office);

    assert.ok(getQueue(result));
  });

  test("a Windows without -IppURL fails before any change, and the message names versions that have it", async () => {
    const Spooler = { Status: "Stopped", StartType: "Manual" };
    await windows.setMachine({ WithoutIppUrl: true, Devices: [device()], Spooler });

    const result = await windows.run("install", office);

    assert.equal(result.code, 1603);
    assert.match(lastLine(result), /no -IppURL\): Windows 11 and Windows Server 2022 and later/);
    assert.deepEqual([changing(result), result.calls.filter((call) => /-Service/.test(call))], [[], []]);
  });

  test("a sleeping printer gives 1618 and leaves nothing, and is installed when it is awake", async () => {
    await windows.setMachine({ Devices: [device({ Awake: false })] });
    const asleep = await windows.run("install", office);
    await windows.changeMachine({ Devices: [device()] });
    const awake = await windows.run("install", office);

    assert.deepEqual([asleep.code, awake.code], [1618, 0]);
    assert.match(lastLine(asleep), /10\.0\.0\.9, port 631, is asleep or not reachable/);
    assert.deepEqual([asleep.calls.includes("Add-Printer"), traces(asleep)], [false, []]);
  });

  const onlyDriver = [`driver ${ippDriver}`];
  const failures: [what: string, quirk: Record<string, unknown>, code: number, RegExp][] = [
    ["that falls asleep meanwhile", { FallsAsleep: true }, 1618, /does not answer at http.*\(0x80004005\)/],
    ["that times out", { Code: "0x800705b4" }, 1618, /does not answer at http.*\(0x800705b4\)/],
    ["that Windows cannot use", { Code: "0x80070057" }, 1603, /does not add .*\(0x80070057\): Fehler beim/],
    ["without a queue that Windows knows", { Known: "device" }, 1603, /pnputil \/remove-device/],
  ];
  for (const [what, quirk, code, last] of failures) {
    test(`a printer ${what} gives ${code} with Windows' error, and leaves nothing`, async () => {
      await windows.setMachine({ Devices: [device(quirk)] });

      const result = await windows.run("install", office);

      assert.equal(result.code, code);
      assert.match(lastLine(result), last);
      assert.deepEqual(traces(result), []);
    });
  }

  const wrongUrls: [WrongUrl: string, left: string[], RegExp][] = [
    ["nothing", [], /added a queue for .*\/ipp\/print, but there is none/],
    ["tcp", onlyDriver, /its port IPP_TCP does not speak IPP/],
    ["wsd", onlyDriver, /does not speak IPP \(Install Protocol '0'\)/],
    ["driver", ["driver Papyrus WSD"], /its driver is Papyrus WSD/],
  ];
  for (const [WrongUrl, left, reason] of wrongUrls) {
    test(`a wrong URL that Windows reports as a success (${WrongUrl}) fails and leaves no queue`, async () => {
      await windows.setMachine({ Devices: [device({ Path: "/ipp" })], WrongUrl });

      const result = await windows.run("install", office);

      assert.equal(result.code, 1603);
      assert.match(lastLine(result), reason);
      assert.deepEqual(traces(result), left);
    });
  }

  test("a queue that Windows names after the device is renamed, or removed when that fails", async () => {
    const quirks = { Devices: [device()], IgnoresQueueName: true };
    const renamed = await windows.install(quirks, office);
    await windows.setMachine({ ...quirks, RenameRefused: true });
    const refused = await windows.run("install", office);

    assert.deepEqual([queuesOf(renamed), refused.code, traces(refused)], [["Office"], 1603, onlyDriver]);
  });

  test("preferences that the device lacks become a remark", async () => {
    const duplex = windowsDeployable({ duplex: "long_edge" });

    const result = await windows.install({ Devices: [device()], Refuses: ["DuplexingMode"] }, duplex);

    assert.match(lastLine(result), /refuses DuplexingMode/);
  });

  const tcp = deployable({ id: "8", name: "Label", address: "10.0.0.8" });
  const many = deploymentOfMany("Client", [office, tcp]);

  test("an IPP and a TCP/IP printer can share a package", async () => {
    await windows.setMachine({ Devices: [device()] });

    const [first, second, detected] = await runAll(windows, many, "install", "install", "detect");

    assert.deepEqual(first.output, ["Office: installed", "Label: installed", "Installed: all 2 printers"]);
    assert.deepEqual(second.output.slice(0, 2), ["Office: nothing to change", "Label: nothing to change"]);
    assert.deepEqual([detected.code, detected.output], [0, ["Installed: all 2 printers"]]);
    assert.equal(findPort(first, "IP_10.0.0.8")?.PrinterHostAddress, "10.0.0.8");
  });

  test("of a package with a sleeping IPP printer the other printer is installed, and both are removed", async () => {
    await windows.setMachine({ Devices: [device({ Awake: false })] });

    const [installed, removed] = await runAll(windows, many, "install", "uninstall");

    assert.equal(installed.code, 1618);
    assert.deepEqual(queuesOf(installed), ["Label"]);
    assert.deepEqual([removed.code, traces(removed)], [0, []]);
  });

  for (const [Queues, line] of [
    [[], new RegExp(`^What if: add queue Office for ${ippUrl}$`, "m")],
    [[queue("Office", "LPT1:")], /^What if: remove and add queue Office .*: its driver is Papyrus/m],
  ] as const) {
    test(`-WhatIf with ${Queues.length} queues prints the changes, and neither changes Windows nor contacts the printer`, async () => {
      await windows.setMachine({ Queues: [...Queues], Devices: [device()] });

      const result = await windows.runSuccessfully("install", office, { parameters: { WhatIf: true } });

      assert.match(result.output.join("\n"), line);
      assert.deepEqual(changing(result), []);
    });
  }

  test("uninstall keeps the driver for other queues and with keep_driver, and a busy driver is no failure", async () => {
    await windows.install(withIppQueue("Theirs"), office);
    const shared = await windows.run("uninstall", office);
    const keeping = windowsDeployable({ keep_driver: "on" });
    await windows.install({ Devices: [device()] }, keeping);
    const kept = await windows.run("uninstall", keeping);
    await windows.install({ Devices: [device()] }, office);
    await windows.changeMachine({ LingerMs: 10 * 60_000 });
    const busy = await windows.run("uninstall", office);

    assert.deepEqual([shared.code, queuesOf(shared), shared.machine.Drivers.length], [0, ["Theirs"], 1]);
    assert.deepEqual([kept.code, traces(kept)], [0, onlyDriver]);
    assert.deepEqual([busy.code, busy.machine.Restarts], [0, 0], busy.output.join());
    assert.doesNotMatch(traces(busy).join(), /Platen/);
  });
});

/** A machine with a TCP/IP printer that becomes an IPP printer, and an old queue. */
const beforeChangeToIpp: Machine = {
  Users: ["S-1-5-21-1-2-3-1001"],
  Devices: [device()],
  Queues: [queue("Old", "OLD_1"), queue("Office", "IP_10.0.0.9")],
  Ports: [{ Name: "LPT1:" }, tcpPort("OLD_1", "10.0.0.1"), tcpPort("IP_10.0.0.9")],
  Registry: {
    [markerPath]: { Queue: "Office", PortName: "IP_10.0.0.9", Revision: "000000000000" },
    "HKLM:\\SOFTWARE\\Platen\\Ports": { "IP_10.0.0.9": "7" },
  },
};

describe("interrupted runs of IPP printers on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
  const all = { duplex: "long_edge", set_default: "on", shared: "on", replaces: "Old" };
  const whole = windowsDeployable(all);

  for (const [IgnoresQueueName, name, quick] of [
    [false, "honours", "error"],
    [true, "ignores", "cut"],
  ] as const) {
    testInterrupted(
      windows,
      `install where Windows ${name} the name, the next install completes and uninstall leaves nothing`,
      {
        script: ["install", whole],
        prepare: () => windows.setMachine({ ...beforeChangeToIpp, IgnoresQueueName }),
        moreThan: 40,
        quick,
        deep: ["error", "cut"],
      },
      async (where) => {
        const runs = await runAll(windows, whole, "install", "detect", "uninstall");

        assertNothingLeft(runs, where);
        assert.deepEqual(queuesOf(runs[0]), ["Office"], where);
      },
    );
  }

  testInterrupted(
    windows,
    "install, uninstall leaves nothing of ours",
    {
      script: ["install", office],
      prepare: () => windows.setMachine(beforeChangeToIpp),
      moreThan: 20,
      quick: "cut",
      deep: ["cut"],
    },
    async (where) => {
      const removed = await windows.run("uninstall", office);

      const left = traces(removed).filter((trace) => !/Old|OLD_1/.test(trace));
      assert.deepEqual([removed.code, left], [0, []], where);
    },
  );

  testInterrupted(
    windows,
    "uninstall, the next uninstall leaves nothing",
    {
      script: ["uninstall", office],
      prepare: () => windows.install({ Devices: [device()] }, office),
      moreThan: 10,
      quick: "error",
      deep: ["error"],
    },
    async (where) => assertNothingLeft([await windows.run("uninstall", office)], where),
  );

  // A duplicate keeps the port, so the port's name does not show the change.
  const beforeMove = async () => {
    await windows.install(withIppQueue("Double"), office);
    await windows.changeMachine({ Devices: [device({ PortName: "WSD-1", Path: "/ipp/port1" })] });
  };
  testInterrupted(
    windows,
    "a change of URL, detect with the old settings finds the old queue or none",
    {
      script: ["install", windowsDeployable({ ipp_path: "/ipp/port1" })],
      prepare: beforeMove,
      moreThan: 10,
      quick: "cut",
      quickAt: [0, 1],
      deep: ["cut"],
    },
    async (where) => {
      const detected = await windows.run("detect", office);

      if (detected.code === 0) assert.equal(getQueue(detected).Url, ippUrl, where);
      const [, call, count] = /^call (\d+) of (\d+)/.exec(where) ?? [];
      if (call === "1") assert.equal(detected.code, 0, where);
      if (call === count) assert.equal(detected.code, 1, where);
    },
  );

  test("uninstall names a queue that a cut left under another name, and keeps it", async () => {
    const machine = { Devices: [device()], IgnoresQueueName: true };
    await windows.setMachine(machine);
    const { calls } = await windows.run("install", office);
    await windows.setMachine(machine);
    await windows.run("install", office, { failAt: calls.indexOf("Rename-Printer") + 1, failWith: "cut" });

    const removed = await windows.runSuccessfully("uninstall", office);

    assert.match(lastLine(removed), /; the queue Papyrus 100 may come from an interrupted installation/);
    assert.deepEqual(
      traces(removed).filter((trace) => /Platen|queue/.test(trace)),
      ["queue Papyrus 100"],
    );
  });

  test("a spooler that stops while it adds the queue is started again, and there is one queue", async () => {
    const Devices = [device()];
    const whole = await windows.install({ Devices }, office);
    for (const quirks of [
      { SpoolerDiesAt: whole.calls.indexOf("Add-Printer") + 1 },
      { DiesAfterAdd: true },
      { DiesAfterAdd: true, IgnoresQueueName: true },
    ]) {
      const installed = await windows.install({ Devices, ...quirks }, office);

      assert.deepEqual(queuesOf(installed), ["Office"], JSON.stringify(quirks));
    }
  });
});
