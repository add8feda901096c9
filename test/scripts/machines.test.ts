import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import { papyrusDriver, queue } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { type Stories, tellStories } from "../support/powershell/transcripts.ts";
import { protectedPrint } from "./scenarios/machines.ts";

const spooler = (Status: string, StartType = "Automatic") => ({ Spooler: { Status, StartType } });

const refusals: Readonly<Record<string, Machine>> = {
  "protected print": protectedPrint,
  "another architecture": { Architecture: "arm64", ProcessArchitecture: "ARM64" },
  "an x64 process on ARM64": { Architecture: "arm64", ProcessArchitecture: "AMD64" },
  "missing rights": { Admin: false },
};
const refused: Stories = Object.fromEntries(
  Object.entries(refusals).map(([what, machine]) => [
    `${what} fails before any change`,
    [{ ...machine, ...spooler("Stopped", "Manual") }, "install"],
  ]),
);
const forBoth = deployable({}, { inf: { architectures: ["amd64", "arm64"] } });

describe("machines and spoolers on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  tellStories("machines", {
    ...refused,
    "a 32-bit host passes -WhatIf on, and nothing changes": [
      { ProcessArchitecture: "x86", Wow64: "AMD64" },
      "install -WhatIf",
    ],
    "a stopped spooler is started": [spooler("Stopped"), "install"],
    "a disabled spooler is reported": [spooler("Stopped", "Disabled"), "install, detect"],
    "a spooler that stops once is started again": [{ SpoolerDiesAt: 8 }, "install, detect"],
    "a spooler that keeps stopping gives 1618": [{ SpoolerDiesAt: 8, SpoolerKeepsDying: true }, "install"],
    "a spooler that never starts gives 1618": [
      { ...spooler("Stopped"), SpoolerNeverStarts: true },
      "install",
    ],
    "a spooler that stops at the first call is started again without a wait": [
      { SpoolerDiesAt: 2 },
      "install, uninstall",
    ],
    "a spooler that stops at the first call whenever it is started gives 1618": [
      { SpoolerDiesAt: 2, SpoolerKeepsDying: true },
      "install, uninstall",
    ],
    "scripts wait for a spooler that is starting": [
      { ...spooler("StartPending"), PendingUntil: 3000 },
      "install, detect",
    ],
    "scripts wait for a spooler that is stopping, and start it": [
      { ...spooler("StopPending"), PendingUntil: 3000 },
      "install",
    ],
    "a spooler that is stopping for good gives 1618": [spooler("StopPending"), "install"],
    "-WhatIf does not start a stopped spooler, and reports it": [
      spooler("Stopped", "Manual"),
      "install -WhatIf",
    ],
    "a process that claims to be 32-bit continues when there is no 64-bit PowerShell": [
      { Architecture: "arm64", Wow64: "ARM64" },
      forBoth,
      "install, detect",
    ],
    "an Add-Printer that adds nothing is retried": [{ SilentAddFailures: 1 }, "install, detect"],
    "an Add-Printer that never adds anything fails": [{ SilentAddFailures: 9 }, "install, detect"],
    "a Set-Printer that changes nothing fails": [
      { IsSetPrinterIgnored: true, Queues: [queue("Office", "LPT1:")], Drivers: [papyrusDriver()] },
      "install",
    ],
  });

  for (const [machine, Wow64] of [
    ["amd64", "AMD64"],
    ["arm64", "ARM64"],
  ] as const) {
    test(`a 32-bit host on ${machine} runs the 64-bit PowerShell with its parameters and returns its exit code`, async () => {
      await windows.setMachine({ Architecture: machine, ProcessArchitecture: "x86", Wow64, PnpCode: 3010 });
      const parameters = { LogPath: join(windows.folder, "ProgramData", "own.log") };

      const before = await windows.run("detect", forBoth);
      const result = await windows.run("install", forBoth, { parameters });
      const detected = await windows.run("detect", forBoth);
      const removed = await windows.run("uninstall", forBoth, { parameters: { Force: true } });

      assert.deepEqual([before.code, result.code, detected.code, removed.code], [1, 3010, 0, 0]);
      assert.match(result.log, /Installation starts/);
    });
  }

  for (const kind of ["install", "uninstall"] as const) {
    test(`${kind} waits for a minute and a half for another run, ends with 1618 and changes nothing`, async () => {
      await windows.setMachine({ MutexHeld: true });

      const result = await windows.run(kind, deployable());

      const reason =
        /^Failed: Another installation of printers is running on this machine\. Try again later\. \(.*\)$/;
      assert.equal(result.code, 1618);
      assert.match(result.output.join("\n"), reason);
      assert.deepEqual([result.machine.Slept, result.machine.Queues, result.calls], [90_000, [], []]);
    });
  }
});
