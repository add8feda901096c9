import { join } from "node:path";
import { describe } from "node:test";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import { papyrusDriver, queue } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { storiesOf, tellStories } from "../support/powershell/transcripts.ts";
import { protectedPrint } from "./scenarios/machines.ts";

const spooler = (Status: string, StartType = "Automatic") => ({ Spooler: { Status, StartType } });

const refusals: Readonly<Record<string, Machine>> = {
  "protected print": protectedPrint,
  "another architecture": { Architecture: "arm64", ProcessArchitecture: "ARM64" },
  "an x64 process on ARM64": { Architecture: "arm64", ProcessArchitecture: "AMD64" },
  "missing rights": { Admin: false },
};
const withoutPrograms = deployable({}, { inf: { architectures: ["amd64"], notShipped: ["amd64"] } });
const forBoth = deployable({}, { inf: { architectures: ["amd64", "arm64"] } });

describe("machines and spoolers on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  tellStories("machines", {
    ...storiesOf(
      refusals,
      (what) => `${what} fails before any change`,
      (machine) => [{ ...machine, ...spooler("Stopped", "Manual") }, "install"],
    ),
    ...storiesOf(
      { AMD64: "amd64", ARM64: "arm64" },
      (what) =>
        `a 32-bit host on ${what} runs the 64-bit PowerShell with its parameters and returns its exit code`,
      (Architecture) => [
        { Architecture, ProcessArchitecture: "x86", Wow64: Architecture.toUpperCase(), PnpCode: 3010 },
        ["detect", forBoth],
        ["install", forBoth, { parameters: { LogPath: join(windows.folder, "ProgramData", "own.log") } }],
        ["detect, uninstall -Force", forBoth],
      ],
    ),
    "a driver whose programs are all for other machines is refused": [{}, ["install", withoutPrograms]],
    "install waits for a minute and a half for another run, ends with 1618 and changes nothing": [
      { MutexHeld: true },
      "install",
    ],
    "uninstall waits for a minute and a half for another run, ends with 1618 and changes nothing": [
      { MutexHeld: true },
      "uninstall",
    ],
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
});
