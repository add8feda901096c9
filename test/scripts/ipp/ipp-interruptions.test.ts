import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { interrupted } from "../../support/powershell/interruptions.ts";
import { device, ippUrl, windowsDeployable, withIppQueue } from "../../support/powershell/ipp-machine.ts";
import { type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { markerPath, queue, queueOf, tcp, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const office = windowsDeployable();

/** A printer that is about to turn from TCP/IP to IPP, and an old queue. */
const turning: Machine = {
  Users: ["S-1-5-21-1-2-3-1001"],
  Devices: [device()],
  Queues: [queue("Old", "OLD_1"), queue("Office", "IP_10.0.0.9")],
  Ports: [{ Name: "LPT1:" }, tcp("OLD_1", "10.0.0.1"), tcp("IP_10.0.0.9")],
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
      test(`a failure (${failWith}) at every call, the name ${name}: the next run heals, and uninstall cleans`, async () => {
        const all = { duplex: "long_edge", set_default: "on", shared: "on", replaces: "Old" };
        const whole = windowsDeployable(all);
        const machine = { ...turning, IgnoresQueueName };
        const runs = interrupted(windows, ["install", whole], {
          prepare: () => windows.machine(machine),
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

  test("a cut at every call, and uninstall at once: nothing of ours stays", async () => {
    const runs = interrupted(windows, ["install", office], {
      prepare: () => windows.machine(turning),
      moreThan: 20,
      failWith: "cut",
    });

    for await (const { where } of runs) {
      const removed = await windows.run("uninstall", office);

      const left = traces(removed).filter((trace) => !/Old|OLD_1/.test(trace));
      assert.deepEqual([removed.code, left], [0, []], where);
    }
  });

  test("a cut at any call of a change of the URL, and the old settings again: no queue is taken for another", async () => {
    const moved = windowsDeployable({ ipp_path: "/ipp/port1" });
    // A double keeps the port, so that its name does not tell.
    const prepare = async () => {
      await windows.installed(withIppQueue("Double"), office);
      await windows.change({ Devices: [device({ PortName: "WSD-1", Path: "/ipp/port1" })] });
    };
    const runs = interrupted(windows, ["install", moved], { prepare, moreThan: 10, failWith: "cut" });
    const found: boolean[] = [];

    for await (const { where } of runs) {
      const detected = await windows.run("detect", office);

      if (detected.code === 0) assert.equal(queueOf(detected).Url, ippUrl, where);
      found.push(detected.code === 0);
    }
    assert.deepEqual([found[0], found.at(-1)], [true, false]);
  });

  test("uninstall names the queue that a cut left under another name, and leaves it", async () => {
    const machine = { Devices: [device()], IgnoresQueueName: true };
    await windows.machine(machine);
    const { calls } = await windows.run("install", office);
    await windows.machine(machine);
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

  test("a failure at every call of uninstall in turn: the next one cleans", async () => {
    const runs = interrupted(windows, ["uninstall", office], {
      prepare: () => windows.installed({ Devices: [device()] }, office),
      moreThan: 10,
    });

    for await (const { where } of runs) {
      const cleaned = await windows.run("uninstall", office);

      assert.deepEqual([cleaned.code, traces(cleaned)], [0, []], where);
    }
  });

  test("a spooler that dies while it adds the queue is started again, and there is one queue", async () => {
    const whole = await windows.installed({ Devices: [device()] }, office);
    const adding = whole.calls.indexOf("Add-Printer") + 1;

    const before = await windows.installed({ Devices: [device()], SpoolerDiesAt: adding }, office);
    const after = await windows.installed({ Devices: [device()], DiesAfterAdd: true }, office);
    const named = await windows.installed(
      { Devices: [device()], DiesAfterAdd: true, IgnoresQueueName: true },
      office,
    );

    const queues = [before, after, named].map(({ machine }) => machine.Queues.map(({ Name }) => Name));
    assert.deepEqual(queues, [["Office"], ["Office"], ["Office"]]);
  });
});
