import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { interruptEachCall } from "../../support/powershell/interruptions.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { getQueue, queue, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const text = "Generic / Text Only";

describe("drivers that Windows includes, on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  const machines: [string, Machine][] = [
    ["x64", {}],
    ["ARM64", { Architecture: "arm64", ProcessArchitecture: "ARM64" }],
    ["32-bit", { Architecture: "x86", ProcessArchitecture: "x86" }],
  ];
  for (const name of ["Microsoft PCL6 Class Driver", "Microsoft PS Class Driver", text]) {
    for (const [what, machine] of machines) {
      test(`${name} is added by name on ${what}, once, and removed without its files`, async () => {
        const label = windowsDeployable({ protocol: "lpr", lpr_queue: "lp1" }, name);
        const first = await windows.install(machine, label);
        const second = await windows.run("install", label);
        const removed = await windows.run("uninstall", label);

        assert.equal(getQueue(first).DriverName, name);
        assert.equal(first.calls.includes("pnputil"), false);
        assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
        assert.deepEqual([removed.code, traces(removed)], [0, []]);
        const removals = removed.calls.filter((call) => call === "Remove-PrinterDriver");
        assert.equal(removals.length, 1, "the files in the driver store are not removed");
      });
    }
  }

  test("a machine that lacks the driver and cannot get it fails without changes", async () => {
    await windows.setMachine({ WindowsDrivers: [] });

    const result = await windows.run("install", windowsDeployable({}, text));

    assert.equal(result.code, 1603);
    assert.match(result.output.at(-1) ?? "", /lacks the driver Generic \/ Text Only, .*\(0x80070705\)$/);
    assert.deepEqual([traces(result), result.machine.Restarts], [[], 0]);
  });

  test("detect reports a removed driver, and install adds it again", async () => {
    const label = windowsDeployable({ address: "" }, text);
    await windows.install({}, label);
    await windows.changeMachine({ Drivers: [] });

    const detected = await windows.run("detect", label);
    const result = await windows.run("install", label);

    assert.match(detected.output.join(), /the driver Generic \/ Text Only is not there/);
    assert.deepEqual([result.code, result.machine.Drivers.length], [0, 1]);
  });

  test("protected print mode blocks them", async () => {
    await windows.setMachine({
      Registry: {
        "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers\\WPP": { WindowsProtectedPrintMode: 1 },
      },
    });

    const result = await windows.run("install", windowsDeployable({}, text));

    assert.equal(result.code, 1603);
    assert.match(result.output.at(-1) ?? "", /protected print mode is on/);
  });

  test("a driver that another queue uses, or with keep_driver, stays", async () => {
    const theirs = queue("Theirs", "LPT1:", text);
    const drivers = [{ Name: text, Version: "10.0.1.0", Date: "06/21/2006" }];
    await windows.install({ Queues: [theirs], Drivers: drivers }, windowsDeployable({}, text));
    const used = await windows.run("uninstall", windowsDeployable({}, text));
    await windows.install({}, windowsDeployable({ keep_driver: "on" }, text));
    const kept = await windows.run("uninstall", windowsDeployable({ keep_driver: "on" }, text));

    assert.deepEqual(traces(used), ["queue Theirs", `driver ${text}`]);
    assert.deepEqual(traces(kept), [`driver ${text}`]);
  });

  test("-WhatIf prints that it would add the driver, and changes nothing", async () => {
    await windows.setMachine();

    const result = await windows.run("install", windowsDeployable({}, text), {
      parameters: { WhatIf: true },
    });

    assert.equal(result.code, 0, result.output.join());
    assert.ok(result.output.includes(`What if: add Windows' own driver ${text}`), result.output.join());
    assert.equal(
      result.calls.some((call) => /Add-|Set-|Remove-|registry/.test(call)),
      false,
    );
  });

  for (const failWith of ["error", "cut"] as const) {
    test(`after a failure (${failWith}) at any call, install completes and uninstall leaves nothing`, async () => {
      const label = windowsDeployable({ set_default: "on" }, text);
      const machine = { Users: ["S-1-5-21-1-2-3-1001"] };
      const runs = interruptEachCall(windows, ["install", label], {
        prepare: () => windows.setMachine(machine),
        moreThan: 15,
        failWith,
      });

      for await (const { where } of runs) {
        const healed = await windows.run("install", label);
        const detected = await windows.run("detect", label);
        const removed = await windows.run("uninstall", label);

        assert.deepEqual([healed.code, detected.code, removed.code], [0, 0, 0], where);
        assert.deepEqual(traces(removed), [], where);
      }
    });
  }
});
