import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { interruptEachCall } from "../../support/powershell/interruptions.ts";
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
  Drivers: [],
  Registry: {
    [markerPath]: { Queue: "Office", PortName: "IP_10.0.0.9", Revision: "000000000000" },
    "HKLM:\\SOFTWARE\\Platen\\Ports": { "IP_10.0.0.9": "7" },
  },
};

describe("interrupted runs of IPP printers on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  for (const IgnoresQueueName of [false, true]) {
    for (const failWith of ["error", "cut"] as const) {
      const name = IgnoresQueueName ? "ignored" : "honoured";
      test(`after a failure (${failWith}) at any call, the name ${name}, install completes and uninstall leaves nothing`, async () => {
        const all = { duplex: "long_edge", set_default: "on", shared: "on", replaces: "Old" };
        const whole = windowsDeployable(all);
        const machine = { ...beforeChangeToIpp, IgnoresQueueName };
        const runs = interruptEachCall(windows, ["install", whole], {
          prepare: () => windows.setMachine(machine),
          moreThan: 40,
          failWith,
        });

        for await (const { where } of runs) {
          const healed = await windows.run("install", whole);
          const detected = await windows.run("detect", whole);
          const removed = await windows.run("uninstall", whole);

          assert.equal(healed.code, 0, `${where}: ${healed.output.join(" ")}`);
          const queues = healed.machine.Queues.map(({ Name }) => Name);
          assert.deepEqual(queues, ["Office"], where);
          assert.equal(detected.code, 0, `${where}: ${detected.output.join(" ")}`);
          assert.deepEqual([removed.code, traces(removed)], [0, []], where);
        }
      });
    }
  }

  test("after a cut at any call of install, uninstall leaves nothing of ours", async () => {
    const runs = interruptEachCall(windows, ["install", office], {
      prepare: () => windows.setMachine(beforeChangeToIpp),
      moreThan: 20,
      failWith: "cut",
    });

    for await (const { where } of runs) {
      const removed = await windows.run("uninstall", office);

      const left = traces(removed).filter((trace) => !/Old|OLD_1/.test(trace));
      assert.deepEqual([removed.code, left], [0, []], where);
    }
  });

  test("after a cut at any call of a change of URL, detect with the old settings does not accept the new queue", async () => {
    const moved = windowsDeployable({ ipp_path: "/ipp/port1" });
    // A duplicate keeps the port, so the port's name does not show the change.
    const prepare = async () => {
      await windows.install(withIppQueue("Double"), office);
      await windows.changeMachine({ Devices: [device({ PortName: "WSD-1", Path: "/ipp/port1" })] });
    };
    const runs = interruptEachCall(windows, ["install", moved], { prepare, moreThan: 10, failWith: "cut" });
    const found: boolean[] = [];

    for await (const { where } of runs) {
      const detected = await windows.run("detect", office);

      if (detected.code === 0) assert.equal(getQueue(detected).Url, ippUrl, where);
      found.push(detected.code === 0);
    }
    assert.deepEqual([found[0], found.at(-1)], [true, false]);
  });

  test("uninstall names a queue that a cut left under another name, and keeps it", async () => {
    const machine = { Devices: [device()], IgnoresQueueName: true };
    await windows.setMachine(machine);
    const { calls } = await windows.run("install", office);
    await windows.setMachine(machine);
    await windows.run("install", office, { failAt: calls.indexOf("Rename-Printer") + 1, failWith: "cut" });

    const removed = await windows.run("uninstall", office);

    assert.equal(removed.code, 0);
    assert.match(
      removed.output.at(-1) ?? "",
      /; the queue Papyrus 100 may come from an interrupted installation/,
    );
    assert.deepEqual(
      traces(removed).filter((trace) => /Platen|queue/.test(trace)),
      ["queue Papyrus 100"],
    );
  });

  test("after a failure at any call of uninstall, the next uninstall leaves nothing", async () => {
    const runs = interruptEachCall(windows, ["uninstall", office], {
      prepare: () => windows.install({ Devices: [device()] }, office),
      moreThan: 10,
    });

    for await (const { where } of runs) {
      const cleaned = await windows.run("uninstall", office);

      assert.deepEqual([cleaned.code, traces(cleaned)], [0, []], where);
    }
  });

  test("a spooler that stops while it adds the queue is started again, and there is one queue", async () => {
    const whole = await windows.install({ Devices: [device()] }, office);
    const adding = whole.calls.indexOf("Add-Printer") + 1;

    const before = await windows.install({ Devices: [device()], SpoolerDiesAt: adding }, office);
    const after = await windows.install({ Devices: [device()], DiesAfterAdd: true }, office);
    const named = await windows.install(
      { Devices: [device()], DiesAfterAdd: true, IgnoresQueueName: true },
      office,
    );

    const queues = [before, after, named].map(({ machine }) => machine.Queues.map(({ Name }) => Name));
    assert.deepEqual(queues, [["Office"], ["Office"], ["Office"]]);
  });
});
