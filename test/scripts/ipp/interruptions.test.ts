import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertNothingLeft, testInterrupted } from "../../support/drivers/interrupted.ts";
import { lastLine, queuesOf, runAll } from "../../support/drivers/script-runs.ts";
import { device, ippUrl, windowsDeployable, withIppQueue } from "../../support/powershell/ipp-machine.ts";
import { type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { getQueue, markerPath, queue, tcpPort, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const office = windowsDeployable();

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
      quickAt: [0.02, 1],
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
