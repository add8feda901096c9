import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { revisionOf } from "../../src/pkg/scripts/revision.ts";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  defaultPrinterKey,
  getQueue,
  markerPath,
  papyrusDriver,
  queue,
  tcpPort,
  traces,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

const sid = "S-1-5-21-9-8-7-1001";
const theirs = { Device: "Theirs,winspool,Ne05:", LegacyDefaultPrinterMode: 0 };
const office = deployable({ set_default: "on" });

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

describe("printers that old scripts deployed, on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("install takes over what happens at log-on, then finds nothing to change, and uninstall removes everything", async () => {
    await windows.setMachine(deployedByOldScripts("Office", revisionOf(office)));

    const detected = await windows.run("detect", office);
    const installed = await windows.run("install", office);
    const second = await windows.run("install", office);
    const removed = await windows.run("uninstall", office);

    assert.deepEqual([detected.code, detected.output], [0, ["Installed: Office"]]);
    assert.deepEqual([installed.code, installed.output], [0, ["Installed: Office: installed"]]);
    const components = Object.keys(installed.machine.Registry).filter((key) => /Active Setup/.test(key));
    assert.deepEqual(
      components.map((key) => key.split("\\").at(-1)),
      ["Platen"],
    );
    assert.deepEqual(installed.machine.Queues, detected.machine.Queues);
    assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
    assert.deepEqual(second.machine.Registry, installed.machine.Registry);
    assert.deepEqual([removed.code, traces(removed)], [0, ["queue Theirs"]]);
    assert.deepEqual(removed.machine.Registry[defaultPrinterKey(sid)], theirs);
  });

  test("install with a new name and revision replaces the old queue", async () => {
    await windows.setMachine(deployedByOldScripts("Old office", "000000000000"));

    const installed = await windows.run("install", office);

    assert.equal(installed.code, 0, installed.output.join("\n"));
    assert.deepEqual(installed.machine.Queues.map(({ Name }) => Name).sort(), ["Office", "Theirs"]);
    assert.equal(getQueue(installed).PortName, "IP_10.0.0.9");
    assert.deepEqual(installed.machine.Ports.map(({ Name }) => Name).sort(), ["IP_10.0.0.9", "LPT1:"]);
    assert.equal(installed.machine.Registry[markerPath]?.Revision, revisionOf(office));
  });
});
