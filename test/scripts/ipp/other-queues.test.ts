import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOfMany } from "../../../src/pkg/scripts/deployment.ts";
import {
  changing,
  endsOf,
  lastLine,
  queuesOf,
  runAll,
  runSteps,
  unchanged,
} from "../../support/drivers/script-runs.ts";
import {
  device,
  ippDriver,
  ippPort,
  ippPortKeys,
  ippQueue,
  ippUrl,
  windowsDeployable,
  withIppQueue,
} from "../../support/powershell/ipp-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import {
  findPort,
  getQueue,
  markerPath,
  papyrusDriver,
  queue,
  tcpPort,
  traces,
} from "../../support/powershell/simulated-machine.ts";
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

describe("IPP queues that are wrong, on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  const Drivers = [{ Name: ippDriver, Version: "10.0.26100.1", Date: "06/21/2006" }];
  const Ports = [tcpPort("IP_10.0.0.9")];
  /** A machine with a queue that has a marker, except for these values. */
  const marked = (values: object, protocol = 1) => {
    const marker = {
      IppUrl: ippUrl,
      PortName: "WSD-1",
      Queue: "Office",
      Revision: "000000000000",
      ...values,
    };
    return {
      ...withIppQueue("Office"),
      Registry: { ...ippPortKeys("WSD-1", protocol), [markerPath]: marker },
    };
  };
  const wrong: [string, Machine, RegExp][] = [
    [
      "a vendor's driver",
      { Queues: [queue("Office", "IP_10.0.0.9")], Ports, Drivers: [papyrusDriver()] },
      /DriverName is Papyrus 100 PCL6/,
    ],
    [
      "a TCP/IP port",
      { Queues: [ippQueue("Office", "IP_10.0.0.9")], Ports, Drivers },
      /its port IP_10\.0\.0\.9 does not speak IPP \(TCPMON\.DLL\)/,
    ],
    ["a local port", { Queues: [ippQueue("Office", "LPT1:")], Drivers }, /does not speak IPP/],
    ["a WSD port", marked({}, 0), /does not speak IPP \(Install Protocol '0'\)/],
    ["no port at all", { Queues: [ippQueue("Office", "gone")], Drivers }, /its port gone is not there/],
    ["an unknown URL", withIppQueue("Office"), /nobody knows its URL/],
    [
      "another URL",
      marked({ IppUrl: "https://10.0.0.9/ipp" }),
      /its URL is https:\/\/10\.0\.0\.9\/ipp, not http:\/\/10\.0\.0\.9:631\/ipp\/print/,
    ],
    [
      "another port than the one it was given",
      marked({ PortName: "WSD-0" }),
      /its port is WSD-1, not WSD-0: somebody added it anew/,
    ],
  ];
  for (const [what, machine, difference] of wrong) {
    test(`detect reports ${what}, and install adds the queue again unless the printer is asleep`, async () => {
      await windows.setMachine({ ...machine, Devices: [device({ PortName: "WSD-1", Awake: false })] });
      const [detected, refused] = await runAll(windows, office, "detect", "install");
      const result = await windows.install({ Devices: [device()], ...machine }, office);
      const repeated = await windows.run("install", office);

      assert.deepEqual([detected.code, refused.code], [1, 1618]);
      assert.match(lastLine(detected), difference);
      assert.equal(getQueue(refused).PortName, machine.Queues?.[0]?.PortName);
      assert.deepEqual([getQueue(result).Url, getQueue(result).DriverName], [ippUrl, ippDriver]);
      assert.equal(result.calls.includes("Remove-PrinterPort"), false);
      assert.deepEqual(endsOf(repeated), [unchanged]);
    });
  }

  test("location, comment and sharing are repaired without a new queue while the printer is asleep", async () => {
    await windows.install({ Devices: [device()] }, office);
    await windows.changeMachine({ Devices: [device({ Awake: false })] });
    const more = windowsDeployable({ location: "Hall", comment: "new", shared: "on", share_name: "office" });

    const result = await windows.runSuccessfully("install", more);

    assert.deepEqual([getQueue(result).Location, getQueue(result).ShareName], ["Hall", "office"]);
    assert.deepEqual(
      changing(result).filter((call) => /Add-Printer|Remove-Printer|connection/.test(call)),
      [],
    );
  });

  test("a failure after the removal names the removed queue, and the next run adds it", async () => {
    await windows.install({ Devices: [device()] }, office);
    const moved = windowsDeployable({ ipp_path: "/ipp/port1" });
    await windows.changeMachine({ Devices: [device({ Path: "/ipp/port1", Code: "0x80070057" })] });
    const failed = await windows.run("install", moved);
    await windows.changeMachine({ Devices: [device({ Path: "/ipp/port1" })] });
    const healed = await windows.run("install", moved);

    assert.equal(failed.code, 1603);
    assert.match(lastLine(failed), /Removed already: Office\. The next run adds the queue\.$/);
    assert.deepEqual([healed.code, getQueue(healed).Url], [0, "http://10.0.0.9:631/ipp/port1"]);
  });

  test("a queue with open jobs is removed when they are done, and the next run adds it", async () => {
    const jobs = [{ ...ippQueue("Office"), Jobs: [1, 2] }];
    await windows.setMachine({ ...withIppQueue("Office"), Queues: jobs, ListLeaving: true });
    const busy = await windows.run("install", office);
    await windows.changeMachine({ Queues: [] });
    const free = await windows.run("install", office);

    assert.deepEqual([busy.code, busy.machine.Restarts, free.code], [1618, 0, 0]);
    assert.match(lastLine(busy), /goes when its jobs are done; the next run adds it\./);
  });

  test("a queue that Windows keeps listing without a reason costs one restart of the spooler", async () => {
    const listing = { ...withIppQueue("Office"), ListLeaving: true, LingerMs: 10 * 60_000 };

    const result = await windows.install(listing, office);

    assert.equal(result.machine.Restarts, 1);
  });

  test("a printer that changes from TCP/IP to IPP and back has one queue, and its old port is removed", async () => {
    const plain = deployable();
    await windows.setMachine({ Devices: [device()] });
    const [, ipp, , back, , removed] = await runSteps(
      windows,
      ["install", plain],
      ["install", office],
      ["detect", office],
      ["install", plain],
      ["detect", plain],
      ["uninstall", plain],
    );

    assert.deepEqual([ipp.machine.Queues.length, findPort(ipp, "IP_10.0.0.9")], [1, undefined]);
    assert.deepEqual([getQueue(back).PortName, back.machine.Queues.length], ["IP_10.0.0.9", 1]);
    assert.equal(back.calls.includes("Set-Printer"), false, "Windows removes its port only with the queue");
    assert.equal(back.machine.Registry[markerPath]?.IppUrl, undefined);
    assert.deepEqual(traces(removed), [`driver ${ippDriver}`]);
  });
});
