import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOfMany } from "../../../src/pkg/scripts/deployment.ts";
import {
  device,
  ippDriver,
  ippUrl,
  windowsDeployable,
  withIppQueue,
} from "../../support/powershell/ipp-machine.ts";
import { deployable, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { findPort, getQueue, markerPath, queue, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const office = windowsDeployable();
const changes = /Add-|Set-|Remove-|Rename-|Restart-|pnputil|registry|connection/;

describe("IPP queues on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("install adds the queue with all settings, and a second run does not contact the printer", async () => {
    const whole = windowsDeployable({
      location: "Hall",
      comment: "2nd floor",
      shared: "on",
      share_name: "office",
      duplex: "long_edge",
      set_default: "on",
    });
    const first = await windows.install({ Devices: [device()], Users: ["S-1-5-21-1-2-3-1001"] }, whole);

    const second = await windows.run("install", whole);

    const made = getQueue(first);
    assert.deepEqual(
      [made.DriverName, made.Url, made.Location, made.Comment, made.ShareName],
      [ippDriver, ippUrl, "Hall", "2nd floor", "office"],
    );
    assert.equal((made.Configuration as { DuplexingMode: string }).DuplexingMode, "TwoSidedLongEdge");
    const marker = first.machine.Registry[markerPath];
    assert.deepEqual([marker?.IppUrl, marker?.PortName], [ippUrl, made.PortName]);
    assert.equal(first.calls.includes("Add-PrinterPort") || first.calls.includes("pnputil"), false);
    assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
    assert.deepEqual(
      second.calls.filter((call) => changes.test(call)),
      [],
    );
    assert.deepEqual(second.machine, first.machine);
  });

  test("the queue is accepted with any port monitor that Windows chooses", async () => {
    for (const IppMonitor of ["WSD Port Monitor", "IPP Port Monitor", "Internet Port"]) {
      const result = await windows.install({ Devices: [device()], IppMonitor }, office);
      const repeated = await windows.run("install", office);
      const removed = await windows.run("uninstall", office);

      assert.equal(findPort(result, getQueue(result).PortName)?.Monitor, IppMonitor);
      assert.deepEqual(repeated.output, ["Installed: Office: nothing to change"]);
      assert.deepEqual([removed.code, traces(removed)], [0, []], IppMonitor);
    }
  });

  test("Windows gets another port, another path and TLS as configured", async () => {
    const fields = { port_number: "443", ipp_path: "/ipp/port1", ipp_tls: "on", address: "fe80::1:2" };
    const Devices = [device({ Port: 443, Path: "/ipp/port1", Tls: true, Address: "fe80::1:2" })];

    const result = await windows.install({ Devices }, windowsDeployable(fields));

    assert.match(String(getQueue(result).Url), /^https:\/\/\[fe80::1:2\](:443)?\/ipp\/port1$/);
  });

  test("protected print mode allows an IPP printer", async () => {
    const Registry = {
      "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers\\WPP": { WindowsProtectedPrintMode: 1 },
    };

    const result = await windows.install({ Devices: [device()], Registry }, office);

    assert.ok(getQueue(result));
  });

  test("a Windows without -IppURL fails before any change, and the message names versions that have it", async () => {
    await windows.setMachine({
      WithoutIppUrl: true,
      Devices: [device()],
      Spooler: { Status: "Stopped", StartType: "Manual" },
    });

    const result = await windows.run("install", office);

    assert.equal(result.code, 1603);
    assert.match(result.output.at(-1) ?? "", /no -IppURL\): Windows 11 and Windows Server 2022 and later/);
    assert.deepEqual(
      result.calls.filter((call) => changes.test(call) || /-Service/.test(call)),
      [],
    );
  });

  test("a sleeping printer gives 1618 and leaves nothing, and is installed when it is awake", async () => {
    await windows.setMachine({ Devices: [device({ Awake: false })] });

    const asleep = await windows.run("install", office);
    await windows.changeMachine({ Devices: [device()] });
    const awake = await windows.run("install", office);

    assert.equal(asleep.code, 1618);
    assert.match(asleep.output.at(-1) ?? "", /10\.0\.0\.9, port 631, is asleep or not reachable/);
    assert.deepEqual([asleep.calls.includes("Add-Printer"), traces(asleep)], [false, []]);
    assert.equal(awake.code, 0, awake.output.join());
  });

  const failures: [string, Record<string, unknown>, number, RegExp][] = [
    ["that falls asleep meanwhile", { FallsAsleep: true }, 1618, /does not answer at http.*\(0x80004005\)/],
    ["that times out", { Code: "0x800705b4" }, 1618, /does not answer at http.*\(0x800705b4\)/],
    ["that Windows cannot use", { Code: "0x80070057" }, 1603, /does not add .*\(0x80070057\): Fehler beim/],
    ["without a queue that Windows knows already", { Known: "device" }, 1603, /pnputil \/remove-device/],
  ];
  for (const [what, more, code, last] of failures) {
    test(`a printer ${what} gives ${code} with Windows' error, and leaves nothing`, async () => {
      await windows.setMachine({ Devices: [device(more)] });

      const result = await windows.run("install", office);

      assert.equal(result.code, code);
      assert.match(result.output.at(-1) ?? "", last);
      assert.deepEqual([traces(result), result.errors], [[], []]);
    });
  }

  for (const [WrongUrl, reason] of [
    ["nothing", /added a queue for .*\/ipp\/print, but there is none/],
    ["tcp", /its port IPP_TCP does not speak IPP/],
    ["wsd", /does not speak IPP \(Install Protocol '0'\)/],
    ["driver", /its driver is Papyrus WSD/],
  ] as const) {
    test(`a wrong URL that Windows reports as a success (${WrongUrl}) fails and leaves nothing`, async () => {
      await windows.setMachine({ Devices: [device({ Path: "/ipp" })], WrongUrl });

      const result = await windows.run("install", office);

      assert.equal(result.code, 1603);
      assert.match(result.output.at(-1) ?? "", reason);
      assert.deepEqual(
        traces(result).filter((trace) => trace !== `driver ${ippDriver}` && trace !== "driver Papyrus WSD"),
        [],
      );
    });
  }

  test("a queue that Windows names after the device is renamed, or removed when that fails", async () => {
    const renamed = await windows.install({ Devices: [device()], IgnoresQueueName: true }, office);
    await windows.setMachine({ Devices: [device()], IgnoresQueueName: true, RenameRefused: true });
    const refused = await windows.run("install", office);

    assert.deepEqual(
      renamed.machine.Queues.map(({ Name }) => Name),
      ["Office"],
    );
    assert.equal(refused.code, 1603);
    assert.deepEqual(traces(refused), [`driver ${ippDriver}`]);
  });

  test("preferences that the device lacks become a remark", async () => {
    const duplex = windowsDeployable({ duplex: "long_edge" });

    const result = await windows.install({ Devices: [device()], Refuses: ["DuplexingMode"] }, duplex);

    assert.match(result.output.at(-1) ?? "", /refuses DuplexingMode/);
  });

  test("an IPP and a TCP/IP printer can share a package", async () => {
    const tcp = deployable({ id: "8", name: "Label", address: "10.0.0.8" });
    const many = deploymentOfMany("Client", [office, tcp]);
    await windows.setMachine({ Devices: [device()] });
    const first = await windows.run("install", many);
    const second = await windows.run("install", many);
    const detected = await windows.run("detect", many);
    await windows.changeMachine({ Devices: [device({ Awake: false })] });
    const removed = await windows.run("uninstall", many);
    const repeated = await windows.run("install", many);

    assert.deepEqual(first.output, ["Office: installed", "Label: installed", "Installed: all 2 printers"]);
    assert.deepEqual(second.output.slice(0, 2), ["Office: nothing to change", "Label: nothing to change"]);
    assert.deepEqual([detected.code, detected.output], [0, ["Installed: all 2 printers"]]);
    assert.equal(findPort(first, "IP_10.0.0.8")?.PrinterHostAddress, "10.0.0.8");
    assert.deepEqual([removed.code, traces(removed)], [0, []]);
    assert.equal(repeated.code, 1618, "one is asleep");
    assert.ok(getQueue(repeated, "Label"), "the other is there");
  });

  test("-WhatIf prints the changes, and neither changes Windows nor contacts the printer", async () => {
    await windows.setMachine({ Devices: [device()] });
    const fresh = await windows.run("install", office, { parameters: { WhatIf: true } });
    await windows.setMachine({ Queues: [queue("Office", "LPT1:")], Devices: [device()] });
    const wrong = await windows.run("install", office, { parameters: { WhatIf: true } });

    assert.deepEqual([fresh.code, wrong.code], [0, 0]);
    assert.ok(fresh.output.includes(`What if: add queue Office for ${ippUrl}`), fresh.output.join());
    assert.ok(
      wrong.output.some((line) =>
        /^What if: remove and add queue Office .*: its driver is Papyrus/.test(line),
      ),
      wrong.output.join(),
    );
    assert.deepEqual(
      [...fresh.calls, ...wrong.calls].filter((call) => changes.test(call)),
      [],
    );
  });

  test("uninstall keeps the driver for other queues and with keep_driver, and a busy driver is no failure", async () => {
    await windows.install(withIppQueue("Theirs"), office);
    const shared = await windows.run("uninstall", office);
    const keeping = windowsDeployable({ keep_driver: "on" });
    await windows.install({ Devices: [device()] }, keeping);
    const kept = await windows.run("uninstall", keeping);
    await windows.install({ Devices: [device()] }, office);
    await windows.changeMachine({ LingerMs: 10 * 60_000 });
    const busy = await windows.run("uninstall", office);

    assert.deepEqual([shared.code, shared.machine.Queues.length, shared.machine.Drivers.length], [0, 1, 1]);
    assert.deepEqual([kept.code, traces(kept)], [0, [`driver ${ippDriver}`]]);
    assert.deepEqual([busy.code, busy.machine.Restarts], [0, 0], busy.output.join());
    assert.deepEqual(
      traces(busy).filter((trace) => /Platen/.test(trace)),
      [],
    );
  });
});
