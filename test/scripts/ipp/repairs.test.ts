import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  changing,
  endsOf,
  lastLine,
  runAll,
  runSteps,
  unchanged,
} from "../../support/drivers/script-runs.ts";
import {
  device,
  ippDriver,
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
