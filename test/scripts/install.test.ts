import assert from "node:assert/strict";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { deploymentOfMany } from "../../src/pkg/scripts/deployment.ts";
import { revisionOf } from "../../src/pkg/scripts/revision.ts";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  defaultPrinterKey,
  findPort,
  getQueue,
  markerPath,
  papyrusDriver,
  queue,
  readyMachine,
  tcpPort,
  traces,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { tellStories } from "../support/powershell/transcripts.ts";

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
    Drivers: [papyrusDriver()],
    Ports: [{ Name: "LPT1:" }, tcpPort("IP_10.0.0.9")],
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
const special = "[Office]*? $(x) `n 'y'";
const afterInstall = (changes: Record<string, unknown>) => ["install", changes, "detect"];

describe("installing and detecting on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("scripts as served add driver, port, queue and marker to a fresh machine, find them and remove them", async () => {
    const name = "Büro “1” — O'Brien ’x’";
    const office = deployable({ name, location: "Hall", comment: "2nd floor" });
    const run = (kind: "detect" | "install" | "uninstall" | "requirement") =>
      windows.run(kind, office, { asServed: true });
    await windows.setMachine();

    const before = await run("detect");
    const result = await run("install");
    const after = await run("detect");
    const required = await run("requirement");
    const removed = await run("uninstall");

    assert.deepEqual([before.code, before.output], [1, [`Not installed: ${name}: there is no such queue`]]);
    assert.deepEqual([result.code, result.output], [0, [`Installed: ${name}: installed`]]);
    const made = getQueue(result, name);
    assert.deepEqual([made.Location, made.Comment, made.PortName], ["Hall", "2nd floor", "IP_10.0.0.9"]);
    assert.equal(findPort(result, "IP_10.0.0.9")?.PrinterHostAddress, "10.0.0.9");
    const { Revision } = result.machine.Registry[markerPath] ?? {};
    assert.deepEqual(
      [Revision, /revision (\w{12})/.exec(result.log)?.[1]],
      Array(2).fill(revisionOf(office)),
    );
    assert.deepEqual([after.code, after.output], [0, [`Installed: ${name}`]]);
    assert.doesNotMatch(after.calls.join(), /Add-|Set-|Remove-|registry/, "detection only reads");
    assert.deepEqual([required.code, required.output], [0, ["applicable"]]);
    assert.deepEqual([removed.code, removed.output, traces(removed)], [0, [`Removed: ${name}: removed`], []]);
  });

  tellStories("install", {
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
      ["detect", b],
      ["uninstall", b],
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
    "detection reports a missing queue": afterInstall({ Queues: [] }),
    "detection reports a connection of the same name as a missing queue": afterInstall({
      Queues: [{ ...queue("Office", "IP_10.0.0.9"), Type: "Connection" }],
    }),
    "detection reports a missing driver": afterInstall({ Drivers: [{ ...papyrusDriver(), Name: "Other" }] }),
    "detection reports an older driver": afterInstall({ Drivers: [papyrusDriver("1.2.3.3")] }),
    "detection reports a missing marker": [readyMachine(), "detect"],
    "detection reports another revision": afterInstall({
      Registry: { [markerPath]: { Revision: "000000000000" } },
    }),
    "detection reports a stopped spooler": afterInstall({
      Spooler: { Status: "Stopped", StartType: "Automatic" },
    }),
  });

  test("the log is written beside Intune's, or in Windows' folder if any user can create the other, or nowhere", async () => {
    const service = "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\IntuneManagementExtension";

    const intune = await windows.install({ Registry: { [service]: { Type: 16 } } });
    const plain = await windows.install({});
    const writable = await windows.install({ IntuneFolder: true });
    const blocked = await windows.install({ LogsBlocked: true });
    await windows.setMachine();
    const wrong = await windows.run("install", deployable(), { parameters: { LogPath: windows.folder } });

    assert.match(intune.log, /Changed: queue Office added/);
    assert.deepEqual(intune.logFolders, ["ProgramData/Microsoft/IntuneManagementExtension/Logs"]);
    assert.deepEqual(
      [plain.logFolders, writable.logFolders],
      [["Windows/Logs/Platen"], ["Windows/Logs/Platen"]],
    );
    for (const { code, log } of [blocked, wrong]) assert.deepEqual([code, log], [0, ""]);
  });

  test("a log over 1 MB is renamed, and a folder with the name of the old log stays empty", async () => {
    const path = join(windows.folder, "run.log");
    const aside = join(windows.folder, "run.log.old");
    const run = async () => {
      await windows.setMachine();
      await writeFile(path, "x".repeat(1_100_000));
      return windows.run("install", deployable(), { parameters: { LogPath: path } });
    };

    const first = await run();
    const kept = (await stat(aside)).size;
    const repeated = await run();
    await rm(aside);
    await mkdir(aside);
    const blocked = await run();

    assert.deepEqual([first.code, repeated.code, blocked.code], [0, 0, 0]);
    assert.equal(kept, 1_100_000);
    assert.deepEqual(await readdir(aside), []);
  });
});
