import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import { getQueue, papyrusDriver, queue } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

describe("machines and spoolers on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  const refusals: [string, Machine, RegExp][] = [
    [
      "protected print",
      {
        Registry: {
          "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers\\WPP": {
            WindowsProtectedPrintGroupPolicyState: 1,
          },
        },
      },
      /protected print mode is on/,
    ],
    [
      "another architecture",
      { Architecture: "arm64", ProcessArchitecture: "ARM64" },
      /This machine is arm64; the driver is made for amd64/,
    ],
    [
      "an x64 process on ARM64",
      { Architecture: "arm64", ProcessArchitecture: "AMD64" },
      /This machine is arm64/,
    ],
    ["missing rights", { Admin: false }, /needs administrator rights/],
  ];
  for (const [what, machine, last] of refusals) {
    test(`${what} fails before any change`, async () => {
      await windows.setMachine({ ...machine, Spooler: { Status: "Stopped", StartType: "Manual" } });

      const result = await windows.run("install", deployable());

      assert.equal(result.code, 1603);
      assert.match(result.output.at(-1) ?? "", last);
      assert.equal(
        result.calls.some((call) => /Add-|Set-|Remove-|pnputil|registry|-Service/.test(call)),
        false,
        result.calls.join(),
      );
      assert.equal(result.machine.Spooler.Status, "Stopped");
    });
  }

  for (const [machine, Wow64] of [
    ["amd64", "AMD64"],
    ["arm64", "ARM64"],
  ] as const) {
    test(`a 32-bit host on ${machine} runs the 64-bit PowerShell with its parameters and returns its exit code`, async () => {
      const office = deployable({}, { inf: { architectures: ["amd64", "arm64"] } });
      await windows.setMachine({ Architecture: machine, ProcessArchitecture: "x86", Wow64, PnpCode: 3010 });
      const before = await windows.run("detect", office);

      const result = await windows.run("install", office, {
        parameters: { LogPath: join(windows.folder, "ProgramData", "own.log") },
      });
      const detected = await windows.run("detect", office);
      const removed = await windows.run("uninstall", office, { parameters: { Force: true } });

      assert.deepEqual([before.code, result.code, detected.code, removed.code], [1, 3010, 0, 0]);
      assert.match(result.log, /Installation starts/);
    });
  }

  test("a 32-bit host passes -WhatIf on, and nothing changes", async () => {
    await windows.setMachine({ ProcessArchitecture: "x86", Wow64: "AMD64" });

    const result = await windows.run("install", deployable(), {
      parameters: { WhatIf: true },
    });

    assert.equal(result.code, 0, result.output.join());
    assert.ok(result.output.some((line) => /^What if: install driver/.test(line)));
    assert.equal(
      result.calls.some((call) => /Add-|Set-|Remove-|pnputil|registry/.test(call)),
      false,
      result.calls.join(),
    );
  });

  test("a stopped spooler is started, and a disabled one is reported", async () => {
    const stopped = await windows.install({ Spooler: { Status: "Stopped", StartType: "Automatic" } });
    await windows.setMachine({ Spooler: { Status: "Stopped", StartType: "Disabled" } });
    const disabled = await windows.run("install", deployable());
    const detected = await windows.run("detect", deployable());

    assert.equal(stopped.machine.Spooler.Status, "Running");
    assert.equal(disabled.code, 1603);
    assert.match(disabled.output.at(-1) ?? "", /spooler is disabled/);
    assert.deepEqual([detected.code, detected.errors], [1, []]);
    assert.match(detected.output.join(), /^Not installed: Office: Windows does not answer/);
  });

  test("a spooler that stops once is started again, and one that keeps stopping gives 1618", async () => {
    const once = await windows.install({ SpoolerDiesAt: 8 });
    await windows.setMachine({ SpoolerDiesAt: 8, SpoolerKeepsDying: true });
    const forGood = await windows.run("install", deployable());
    await windows.setMachine({
      Spooler: { Status: "Stopped", StartType: "Automatic" },
      SpoolerNeverStarts: true,
    });
    const never = await windows.run("install", deployable());

    assert.match(once.log, /went away|was started/);
    assert.deepEqual([forGood.code, never.code], [1618, 1618]);
  });

  test("a spooler that stops at the first call is started again without a wait", async () => {
    const once = await windows.install({ SpoolerDiesAt: 2 });
    const removed = await windows.run("uninstall", deployable());
    await windows.setMachine({ SpoolerDiesAt: 2, SpoolerKeepsDying: true });
    const forGood = await windows.run("install", deployable());
    const uninstall = await windows.run("uninstall", deployable());

    assert.deepEqual([once.code, removed.code], [0, 0]);
    assert.ok(once.machine.Slept < 2000, `${once.machine.Slept} ms`);
    assert.equal(once.calls.filter((call) => call === "Start-Service").length, 1);
    for (const result of [forGood, uninstall]) {
      assert.equal(result.code, 1618);
      assert.match(result.output.at(-1) ?? "", /spooler stops whenever it is started/);
      assert.equal(result.calls.filter((call) => call === "Start-Service").length, 3);
    }
    assert.ok(forGood.machine.Slept < 5000, `${forGood.machine.Slept} ms`);
  });

  test("scripts wait for a spooler that is starting or stopping, and start it once it has stopped", async () => {
    const starting = await windows.install({
      Spooler: { Status: "StartPending", StartType: "Automatic" },
      PendingUntil: 3000,
    });
    await windows.setMachine({
      Spooler: { Status: "StopPending", StartType: "Automatic" },
      PendingUntil: 3000,
    });
    const stopping = await windows.run("install", deployable());
    await windows.setMachine({ Spooler: { Status: "StopPending", StartType: "Automatic" } });
    const stuck = await windows.run("install", deployable());

    assert.deepEqual([starting.code, stopping.code, stuck.code], [0, 0, 1618]);
    assert.equal(starting.calls.includes("Start-Service"), false);
    assert.match(stopping.log, /spooler was started/);
    assert.match(stuck.output.at(-1) ?? "", /spooler does not answer/);
  });

  test("-WhatIf does not start a stopped spooler, and reports it", async () => {
    await windows.setMachine({ Spooler: { Status: "Stopped", StartType: "Manual" } });

    const result = await windows.run("install", deployable(), { parameters: { WhatIf: true } });

    assert.deepEqual([result.code, result.machine.Spooler.Status], [1618, "Stopped"]);
    assert.match(result.output.at(-1) ?? "", /spooler is stopped; -WhatIf does not start it/);
  });

  test("a process that claims to be 32-bit continues when there is no 64-bit PowerShell", async () => {
    const office = deployable({}, { inf: { architectures: ["amd64", "arm64"] } });
    await windows.setMachine({ Architecture: "arm64", Wow64: "ARM64" });

    const installed = await windows.run("install", office);
    const detected = await windows.run("detect", office);

    assert.deepEqual([installed.code, detected.code], [0, 0], installed.output.join());
  });

  test("an Add-Printer that adds nothing is retried, and then fails", async () => {
    const once = await windows.install({ SilentAddFailures: 1 });
    await windows.setMachine({ SilentAddFailures: 9 });
    const always = await windows.run("install", deployable());
    const after = await windows.run("detect", deployable());

    assert.ok(getQueue(once));
    assert.equal(always.code, 1603);
    assert.match(always.output.at(-1) ?? "", /it is never there/);
    assert.equal(after.code, 1);
  });

  test("a Set-Printer that changes nothing fails", async () => {
    await windows.setMachine({
      IsSetPrinterIgnored: true,
      Queues: [queue("Office", "LPT1:")],
      Drivers: [papyrusDriver()],
    });

    const result = await windows.run("install", deployable());

    assert.equal(result.code, 1603);
    assert.match(result.output.at(-1) ?? "", /did not take over .* PortName/);
  });

  test("a lock that another run holds gives 1618", async () => {
    await windows.setMachine({ MutexHeld: true });

    const install = await windows.run("install", deployable());
    const uninstall = await windows.run("uninstall", deployable());

    assert.deepEqual([install.code, uninstall.code], [1618, 1618]);
    assert.deepEqual(install.calls, []);
  });
});
