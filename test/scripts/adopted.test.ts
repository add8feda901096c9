import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { revisionOf } from "../../src/pkg/scripts/revision.ts";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  markerPath,
  papyrus,
  queue,
  queueOf,
  tcp,
  traces,
  userPath,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

const sid = "S-1-5-21-9-8-7-1001";
const theirs = { Device: "Theirs,winspool,Ne05:", LegacyDefaultPrinterMode: 0 };
const office = deployable({ set_default: "on" });

/**
 * What the scripts of the versions before IPP queues and second drivers left of a printer: these names and texts stand on
 * machines, and the scripts of today go by them.
 */
function deployedFormerly(name: string, revision: string): Machine {
  const software = "HKEY_LOCAL_MACHINE\\SOFTWARE";
  return {
    Users: [sid],
    Drivers: [papyrus()],
    Ports: [{ Name: "LPT1:" }, tcp("IP_10.0.0.9")],
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
      [userPath(sid)]: { Device: `${name},winspool,Ne07:`, LegacyDefaultPrinterMode: 1 },
    },
  };
}

describe("what former versions deployed, on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("is as it should be: nothing is installed again, nor set again at log-on, and uninstall knows all of it", async () => {
    await windows.machine(deployedFormerly("Office", revisionOf(office)));

    const detected = await windows.run("detect", office);
    const installed = await windows.run("install", office);
    const removed = await windows.run("uninstall", office);

    assert.deepEqual([detected.code, detected.output], [0, ["Installed: Office"]]);
    assert.deepEqual([installed.code, installed.output], [0, ["Installed: Office: nothing to change"]]);
    assert.deepEqual(installed.machine, detected.machine);
    assert.deepEqual([removed.code, traces(removed)], [0, ["queue Theirs"]]);
    assert.deepEqual(removed.machine.Registry[userPath(sid)], theirs);
  });

  test("is adopted under a new name and revision, not doubled", async () => {
    await windows.machine(deployedFormerly("Old office", "000000000000"));

    const installed = await windows.run("install", office);

    assert.equal(installed.code, 0, installed.output.join("\n"));
    assert.deepEqual(installed.machine.Queues.map(({ Name }) => Name).sort(), ["Office", "Theirs"]);
    assert.equal(queueOf(installed).PortName, "IP_10.0.0.9");
    assert.deepEqual(installed.machine.Ports.map(({ Name }) => Name).sort(), ["IP_10.0.0.9", "LPT1:"]);
    assert.equal(installed.machine.Registry[markerPath]?.Revision, revisionOf(office));
  });
});
