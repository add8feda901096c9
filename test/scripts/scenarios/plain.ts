import { deployable } from "../../support/powershell/powershell.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import { papyrusDriver, queue, tcpPort } from "../../support/powershell/simulated-machine.ts";

const inHall = { ...queue("Office", "IP_10.0.0.9"), Location: "Hall" };
const other = { Name: "Papyrus 200", Version: "3.0.0.0", Date: "01/01/2025" };
const theirs = queue("Theirs", "LPT1:");
const stuck = { Id: 1, JobStatus: "Error, Printing", Minutes: 90 };
const kept = { Id: 2, JobStatus: "Printed, Retained", Minutes: 90 };
const jobs = (...Jobs: unknown[]) => ({ Queues: [{ ...inHall, Jobs }] });
const moved = { Ports: [{ Name: "LPT1:" }, tcpPort("IP_10.0.0.9", "10.0.0.1")] };
const otherDriver = { Queues: [{ ...inHall, DriverName: other.Name }], Drivers: [papyrusDriver(), other] };
const inCellar = { Queues: [{ ...inHall, Location: "Cellar", Jobs: [1, 2] }] };
const older = { Drivers: [papyrusDriver("1.2.3.3")], Queues: [theirs] };
const newer = { Drivers: [papyrusDriver("2.0.0.0", "01/01/2026")] };
const stored = { Drivers: [{ ...papyrusDriver("2.0.0.0", "01/01/2026"), IsStored: true }], Queues: [theirs] };
const exact = deployable({ location: "Hall" }, { exact_version: true });

/** A queue on a TCP/IP port with an uploaded driver. */
export const plain: ScenarioGroup = {
  title: "A TCP/IP printer with a vendor’s driver",
  about:
    "_Office_ at 10.0.0.9, port 9100, location _Hall_, with the driver _Papyrus 100 PCL6_ 1.2.3.4 of 2025-06-21 for x64 in its package.",
  what: deployable({ location: "Hall" }),
  scenarios: [
    ["not installed", 1, "detect"],
    ["not installed", 0, "install"],
    ["installed", 0, "install, detect"],
    ["installed", 0, "install, install"],
    ["installed; the port’s address was changed", 1, "install", moved, "detect"],
    ["installed; the port’s address was changed", 0, "install", moved, "install"],
    ["installed; the queue’s driver was changed", 0, "install", otherDriver, "install"],
    ["installed; the location was changed, two jobs are open", 0, "install", inCellar, "install"],
    ["an older driver is installed, and another queue uses it", 0, older, "install"],
    ["a newer driver is installed", 0, newer, "install"],
    [
      "a newer driver is installed, another queue uses it, and _Install exactly this version_ is on",
      0,
      stored,
      ["install", exact],
    ],
    [
      "the same, but Windows does not add the older driver",
      1603,
      { ...stored, RefusesVersion: "1.2.3.4" },
      ["install", exact],
    ],
    ["installed; then a newer driver was installed", 0, "install", newer, "detect"],
    [
      "installed; then a newer driver was installed, and _Install exactly this version_ is on",
      1,
      ["install", exact],
      newer,
      ["detect", exact],
    ],
    ["Windows asks for a restart after adding the driver", 3010, { PnpCode: 3010 }, "install"],
    ["Windows does not trust the driver’s publisher", 1603, { PnpCode: -536870334 }, "install"],
    ["the driver ZIP was repacked", 1603, { PnpCode: -536870325 }, "install"],
    ["installed", 0, "install, uninstall"],
    ["not installed", 0, "uninstall"],
    ["installed; another queue uses the driver", 0, "install", { Queues: [inHall, theirs] }, "uninstall"],
    [
      "installed; a job is stuck, another was printed and is kept",
      0,
      "install",
      jobs(stuck, kept),
      "uninstall",
    ],
    ["installed; two open jobs do not finish", 1618, "install", jobs(1, 2), "uninstall"],
  ],
};
