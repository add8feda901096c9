import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOfMany } from "../../../src/pkg/scripts/deployment.ts";
import { endsOf, lastLine, queuesOf, runAll, runSteps } from "../../support/drivers/script-runs.ts";
import {
  device,
  ippPort,
  ippPortKeys,
  ippQueue,
  windowsDeployable,
  withIppQueue,
} from "../../support/powershell/ipp-machine.ts";
import { type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { getQueue, markerPath, queue, tcpPort, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const office = windowsDeployable();
const portId = "00000000-0000-4000-8000-000000000001";

describe("other queues on an IPP printer's device, on a simulated Windows", {
  skip: withoutPowerShell,
}, () => {
  const windows = simulatedWindows();

  const wsd = "Papyrus 100 (WSD)";
  const known: Machine = {
    ...withIppQueue(wsd),
    Devices: [device({ Known: wsd })],
    Registry: ippPortKeys("WSD-1", 0),
  };

  test('a queue that already uses the device is named, and only "replaces" removes it', async () => {
    await windows.setMachine(known);
    const refused = await windows.run("install", office);
    const replaced = await windows.install(known, windowsDeployable({ replaces: wsd }));

    assert.equal(refused.code, 1603);
    assert.match(lastLine(refused), /\(0x8007070a\).*\(on WSD ports: Papyrus 100 \(WSD\)\)/);
    assert.deepEqual([queuesOf(refused), queuesOf(replaced)], [[wsd], ["Office"]]);
  });

  test("a failure after a queue of the device was replaced names it, and no other queue is replaced", async () => {
    await windows.setMachine({
      ...known,
      Devices: [device({ Known: wsd, Path: "/ipp" })],
      Queues: [ippQueue(wsd), queue("Old", "OLD_1")],
      Ports: [...(known.Ports ?? []), tcpPort("OLD_1")],
    });

    const inVain = await windows.run("install", windowsDeployable({ replaces: `Old\n${wsd}` }));

    assert.match(lastLine(inVain), /none\. Is the path right\? Removed already: Papyrus 100 \(WSD\)\. The/);
    assert.deepEqual(queuesOf(inVain), ["Old"]);
  });

  test("a queue that Windows adds by itself while it refuses ours stays", async () => {
    await windows.setMachine({ Devices: [device({ Code: "0x80070057", Meanwhile: "By Windows" })] });

    const result = await windows.run("install", office);

    assert.deepEqual([result.code, queuesOf(result)], [1603, ["By Windows"]]);
  });

  for (const [by, machine] of [
    ["port", withIppQueue("Double")],
    [
      "id",
      {
        ...withIppQueue("Double"),
        Queues: [ippQueue("Double"), ippQueue("Other device", "WSD-2")],
        Ports: [ippPort(), ippPort("WSD-2")],
        Registry: { ...ippPortKeys("WSD-1", 1, `IPP-${portId}`), ...ippPortKeys("WSD-2", 1, "IPP-2") },
        Devices: [device()],
      },
    ],
  ] as const) {
    test(`a duplicate queue from Windows is found by its ${by}, and stays`, async () => {
      const result = await windows.install(machine as Machine, office);

      assert.match(
        lastLine(result),
        /installed; the queue Double is on the same device; "replaces" removes it$/,
      );
      assert.ok(getQueue(result, "Double"));
    });
  }

  test('"replaces" removes a duplicate queue', async () => {
    await windows.setMachine({ Devices: [device()] });
    await windows.run("install", office);
    await windows.changeMachine({ Queues: [ippQueue("Office", `WSD-${portId}`), ippQueue("Double")] });

    const replaced = await windows.run("install", windowsDeployable({ replaces: "Double" }));

    assert.deepEqual([replaced.code, queuesOf(replaced)], [0, ["Office"]]);
  });

  test("two deployed printers on one device are no duplicates, and the second keeps the port", async () => {
    const [a, b] = [windowsDeployable({ id: "7", name: "A" }), windowsDeployable({ id: "8", name: "B" })];
    await windows.setMachine({ Devices: [device()] });
    const [both, repeated] = await runAll(windows, deploymentOfMany("Client", [a, b]), "install", "install");
    const [first, , second] = await runSteps(windows, ["uninstall", a], ["detect", b], ["uninstall", b]);

    assert.deepEqual(both.output.slice(0, 2), ["A: installed", "B: installed"]);
    assert.deepEqual(repeated.output.slice(0, 2), ["A: nothing to change", "B: nothing to change"]);
    assert.deepEqual([first.machine.Drivers.length, traces(second)], [1, []]);
  });

  test("a renamed printer gets a new queue on the device, and the old queue is removed", async () => {
    await windows.install({ Devices: [device()] }, windowsDeployable({ name: "Before" }));

    const [result, detected] = await runAll(windows, office, "install", "detect");

    assert.deepEqual([result.code, queuesOf(result)], [0, ["Office"]]);
    assert.deepEqual(endsOf(detected), ["0 Installed: Office"]);
  });
});

describe("queues that Windows adds by itself beside an IPP printer's", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
  /** A queue of another device, which Windows adds while the script waits for ours. */
  const Meanwhile = { Name: "Lobby", Location: "http://10.0.0.77:5357/wsd" };
  const host = "papyrus.example.org";
  const named = windowsDeployable({ address: host });
  const Network = { Names: { [host]: ["10.0.0.8", "10.0.0.9"] } };
  const located = (at: string, more = {}) => device({ Location: `http://${at}:5357/wsd`, ...more });

  test("the queue of another device is not taken for ours, even when Windows renames ours", async () => {
    const machine = { Devices: [device({ Meanwhile })], IgnoresQueueName: true };

    const result = await windows.install(machine, office);

    const port = getQueue(result).PortName;
    assert.deepEqual(queuesOf(result), ["Lobby", "Office"]);
    assert.equal(result.machine.Registry[markerPath]?.PortName, port);
    assert.notEqual(getQueue(result, "Lobby").PortName, port);
    assert.match(result.log, /Windows named the queue Papyrus 100\./);
  });

  for (const [what, found, queues, printer] of [
    ["Windows located the device at our address", located("10.0.0.9"), ["Office"], office],
    [
      "Windows located it only over IPv6, where ours is an address of IPv4",
      located("[fe80::9]"),
      ["Office"],
      office,
    ],
    ["Windows located it by a name", located("papyrus"), ["Office"], office],
    [
      "Windows adds another that is possible too, but not at our address",
      located("10.0.0.9", { Meanwhile: { ...Meanwhile, Location: "http://[fe80::77]:5357/wsd" } }),
      ["Lobby", "Office"],
      office,
    ],
    [
      "the printer has a host name with several addresses",
      located("10.0.0.9", { Address: host, Meanwhile }),
      ["Lobby", "Office"],
      named,
    ],
  ] as const) {
    test(`our queue is found when ${what}`, async () => {
      const machine = { Devices: [found], Network, IgnoresQueueName: true };

      const result = await windows.install(machine, printer);

      assert.deepEqual(queuesOf(result), queues);
    });
  }

  for (const [what, refusing, printer, code, last] of [
    [
      "Windows adds no queue of ours",
      { Path: "/elsewhere" },
      office,
      1603,
      /but there is none\. Is the path right\?$/,
    ],
    [
      "a host name has no address",
      { Address: host, Code: "0x80072ee2" },
      named,
      1618,
      /The printer does not answer at http:\/\/papyrus\.example\.org/,
    ],
  ] as const) {
    test(`when ${what}, the queue of another device is not touched`, async () => {
      await windows.setMachine({ Devices: [device({ Meanwhile, ...refusing })] });

      const result = await windows.run("install", printer);

      assert.equal(result.code, code);
      assert.match(lastLine(result), last);
      assert.deepEqual([queuesOf(result), result.machine.Registry[markerPath]], [["Lobby"], undefined]);
    });
  }
});
