import assert from "node:assert/strict";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { deploymentOfMany } from "../../src/pkg/scripts/deployment.ts";
import { revisionOf } from "../../src/pkg/scripts/revision.ts";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  defaultPrinterKey,
  markerOf,
  markerPath,
  papyrusDriver,
  queue,
  readyMachine,
  tcpPort,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { storiesOf, tellStories } from "../support/powershell/transcripts.ts";

const sid = "S-1-5-21-1-2-3-1001";
const theirs = { Device: "Theirs,winspool,Ne05:", LegacyDefaultPrinterMode: 0 };
const asDefault = deployable({ set_default: "on" });

/**
 * A printer as scripts from before IPP queues and second drivers deployed it. These names and values exist on machines, and
 * today's scripts depend on them.
 */
function deployedByOldScripts(name: string, revision: string): Machine {
  const software = "HKEY_LOCAL_MACHINE\\SOFTWARE";
  return {
    Users: [sid],
    ...readyMachine(),
    Queues: [queue("Theirs", "LPT1:", "Another"), queue(name, "IP_10.0.0.9")],
    Registry: {
      [markerPath]: {
        Queue: name,
        DriverName: "Papyrus 100 PCL6",
        DriverSha256: "A".repeat(64),
        PortName: "IP_10.0.0.9",
        Revision: revision,
        Deployed: "2026-10-01T08:00:00Z",
      },
      [`${markerPath}\\Users\\${sid}`]: { Device: theirs.Device, LegacyDefaultPrinterMode: "0" },
      [`${software}\\Platen\\Ports`]: { "IP_10.0.0.9": "7" },
      [`${software}\\Microsoft\\Active Setup\\Installed Components\\Platen-7`]: {
        StubPath:
          "powershell.exe -NoProfile -NonInteractive -WindowStyle Hidden -ExecutionPolicy Bypass -Command " +
          "\"$q=(Get-ItemProperty 'HKLM:\\SOFTWARE\\Platen\\Printers\\7').Queue;" +
          "Set-ItemProperty 'HKCU:\\Software\\Microsoft\\Windows NT\\CurrentVersion\\Windows' LegacyDefaultPrinterMode 1 -Type DWord;" +
          '(New-Object -ComObject WScript.Network).SetDefaultPrinter($q)"',
        Version: "2026,1001,0800,00",
      },
      [defaultPrinterKey(sid)]: { Device: `${name},winspool,Ne07:`, LegacyDefaultPrinterMode: 1 },
    },
  };
}

const [a, b] = [deployable({ id: "7", name: "A" }), deployable({ id: "8", name: "B" })];
const driverOnly = deployable({ name: "Papyrus driver", address: "" });
const many = deploymentOfMany("Client", [
  deployable({ id: "7", name: "Good" }),
  deployable({ id: "8", name: "Bad" }, { id: 2, sha256: "b".repeat(64), inf: { architectures: ["x86"] } }),
  deployable({ id: "9", name: "Also good", address: "10.0.0.10" }),
]);
const service = "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\IntuneManagementExtension";
const special = "[Office]*? $(x) `n 'y'";
const drifts: Record<string, Machine> = {
  "nothing of a complete printer": {},
  "a missing queue": { Queues: [] },
  "a connection of the same name as a missing queue": {
    Queues: [{ ...queue("Office", "IP_10.0.0.9"), Type: "Connection" }],
  },
  "a missing driver": { Drivers: [{ ...papyrusDriver(), Name: "Other" }] },
  "an older driver": { Drivers: [papyrusDriver("1.2.3.3")] },
  "a missing marker": { Registry: {} },
  "another revision": { Registry: { [markerPath]: { Revision: "000000000000" } } },
  "a stopped spooler": { Spooler: { Status: "Stopped", StartType: "Automatic" } },
};

describe("installing and detecting on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  tellStories("install", {
    "scripts as served add driver, port, queue and marker to a fresh machine, find them and remove them": [
      [
        "detect, install, detect, requirement, uninstall",
        deployable({ name: "Büro “1” — O'Brien ’x’", location: "Hall", comment: "2nd floor" }),
        { asServed: true },
      ],
    ],
    "a second run reports nothing to change": [
      { Users: [sid] },
      deployable({ duplex: "long_edge", color: "mono", paper_size: "A4", set_default: "on", shared: "on" }),
      "install, install",
    ],
    "sharing, location and comment stay unless the printer sets them": [
      readyMachine({ Shared: true, ShareName: "theirs", Location: "L", Comment: "C" }),
      "install",
    ],
    "replaced queues are removed after success, with the ports that only they used": [
      {
        Queues: [queue("Old", "OLD_1"), queue("Older", "SHARED"), queue("Theirs", "SHARED")],
        Ports: [tcpPort("OLD_1", "10.0.0.1"), tcpPort("SHARED", "10.0.0.2")],
        Drivers: [papyrusDriver()],
      },
      deployable({ replaces: "Old\nOlder\nNever there" }),
      "install",
    ],
    "nothing is replaced when the installation fails": [
      { Queues: [queue("Old", "LPT1:", "Other")], SilentAddFailures: 9 },
      deployable({ replaces: "Old" }),
      "install",
    ],
    "a renamed printer leaves no second queue behind": [
      ["install", deployable({ name: "Before" })],
      ["install", deployable({ name: "After", address: "10.0.0.77" })],
    ],
    "a printer that becomes driver-only loses its queue and port": [
      "install",
      ["install", deployable({ address: "" })],
    ],
    "the driver of two printers stays until the second one is uninstalled": [
      ["install", a],
      ["install", b],
      ["uninstall", a],
      ["detect, uninstall", b],
    ],
    "a driver-only deployment installs, detects and removes the driver alone": [
      driverOnly,
      "install, detect, uninstall",
    ],
    "when one of several printers fails, the others are installed and each result is reported": [
      many,
      "install, detect, uninstall",
    ],
    "-WhatIf prints the changes and makes none": [{ Queues: [queue("Office", "LPT1:")] }, "install -WhatIf"],
    "install takes over what old scripts did at log-on, then finds nothing to change, and uninstall removes everything":
      [
        deployedByOldScripts("Office", revisionOf(asDefault)),
        asDefault,
        "detect, install, install, uninstall",
      ],
    "install with a new name and revision replaces the queue of old scripts": [
      deployedByOldScripts("Old office", "000000000000"),
      asDefault,
      "install",
    ],
    "a queue name with wildcards and quotes matches only itself": [
      { Queues: [queue("Office", "LPT1:"), queue("O", "LPT1:")], Drivers: [papyrusDriver()] },
      deployable({ name: special }),
      "install, detect, uninstall",
    ],
    "the log is written beside Intune's": [{ Registry: { [service]: { Type: 16 } } }, "install"],
    "the log is written in Windows' folder if any user can create Intune's": [
      { IntuneFolder: true },
      "install",
    ],
    "a folder for logs that cannot be made stops no run": [{ LogsBlocked: true }, "install"],
    "a log that cannot be written stops no run": [
      ["install", deployable(), { parameters: { LogPath: windows.folder } }],
    ],
    ...storiesOf(
      drifts,
      (what) => `detection reports ${what}`,
      (changes) => [
        readyMachine({}, {}, { Registry: { [markerPath]: markerOf(deployable()) }, ...changes }),
        "detect",
      ],
    ),
  });

  test("a log over 1 MB is renamed, and a folder with the name of the old log stays empty", async () => {
    const [path, aside] = [join(windows.folder, "run.log"), join(windows.folder, "run.log.old")];
    await windows.setMachine();
    const run = async () => {
      await writeFile(path, "x".repeat(1_100_000));
      await windows.runSuccessfully("install", deployable(), { parameters: { LogPath: path } });
    };

    await run();
    const kept = (await stat(aside)).size;
    await run();
    await rm(aside);
    await mkdir(aside);
    await run();

    assert.equal(kept, 1_100_000);
    assert.deepEqual(await readdir(aside), []);
  });
});
