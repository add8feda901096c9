import { deployable } from "../../support/powershell/powershell.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import { papyrusDriver, queue, tcpPort } from "../../support/powershell/simulated-machine.ts";

const lpt = { Name: "LPT1:" };
const inHall = { ...queue("Office", "IP_10.0.0.9"), Location: "Hall" };
const other = { Name: "Papyrus 200", Version: "3.0.0.0", Date: "01/01/2025" };
const theirs = queue("Theirs", "LPT1:");
const stuckJob = { Id: 1, JobStatus: "Error, Printing", Minutes: 90 };
const keptJob = { Id: 2, JobStatus: "Printed, Retained", Minutes: 90 };

/** A queue on a TCP/IP port with an uploaded driver. */
export const plain: ScenarioGroup = {
  title: "A TCP/IP printer with a vendor’s driver",
  about:
    "_Office_ at 10.0.0.9, port 9100, location _Hall_, with the driver _Papyrus 100 PCL6_ 1.2.3.4 of 2025-06-21 for x64 in its package.",
  what: deployable({ location: "Hall" }),
  scenarios: [
    { before: "not installed", run: "detect", code: 1 },
    { before: "not installed", run: "install" },
    { before: "installed", run: "detect", ranBefore: ["install"] },
    { before: "installed", run: "install", ranBefore: ["install"] },
    {
      before: "installed; the port’s address was changed",
      run: "detect",
      code: 1,
      ranBefore: ["install"],
      changesSince: { Ports: [lpt, tcpPort("IP_10.0.0.9", "10.0.0.1")] },
    },
    {
      before: "installed; the port’s address was changed",
      run: "install",
      ranBefore: ["install"],
      changesSince: { Ports: [lpt, tcpPort("IP_10.0.0.9", "10.0.0.1")] },
    },
    {
      before: "installed; the queue’s driver was changed",
      run: "install",
      ranBefore: ["install"],
      changesSince: { Queues: [{ ...inHall, DriverName: other.Name }], Drivers: [papyrusDriver(), other] },
    },
    {
      before: "installed; the location was changed, two jobs are open",
      run: "install",
      ranBefore: ["install"],
      changesSince: { Queues: [{ ...inHall, Location: "Cellar", Jobs: [1, 2] }] },
    },
    {
      before: "an older driver is installed, and another queue uses it",
      run: "install",
      machine: { Drivers: [papyrusDriver("1.2.3.3")], Queues: [theirs] },
    },
    {
      before: "a newer driver is installed",
      run: "install",
      machine: { Drivers: [papyrusDriver("2.0.0.0", "01/01/2026")] },
    },
    {
      before: "a newer driver is installed, another queue uses it, and _Install exactly this version_ is on",
      run: "install",
      machine: { Drivers: [{ ...papyrusDriver("2.0.0.0", "01/01/2026"), IsStored: true }], Queues: [theirs] },
      what: deployable({ location: "Hall" }, { exact_version: true }),
    },
    {
      before: "the same, but Windows does not add the older driver",
      run: "install",
      code: 1603,
      machine: {
        Drivers: [{ ...papyrusDriver("2.0.0.0", "01/01/2026"), IsStored: true }],
        Queues: [theirs],
        RefusesVersion: "1.2.3.4",
      },
      what: deployable({ location: "Hall" }, { exact_version: true }),
    },
    {
      before: "installed; then a newer driver was installed",
      run: "detect",
      ranBefore: ["install"],
      changesSince: { Drivers: [papyrusDriver("2.0.0.0", "01/01/2026")] },
    },
    {
      before: "installed; then a newer driver was installed, and _Install exactly this version_ is on",
      run: "detect",
      code: 1,
      ranBefore: ["install"],
      changesSince: { Drivers: [papyrusDriver("2.0.0.0", "01/01/2026")] },
      what: deployable({ location: "Hall" }, { exact_version: true }),
    },
    {
      before: "Windows asks for a restart after adding the driver",
      run: "install",
      code: 3010,
      machine: { PnpCode: 3010 },
    },
    {
      before: "Windows does not trust the driver’s publisher",
      run: "install",
      code: 1603,
      machine: { PnpCode: -536870334 },
    },
    {
      before: "the driver ZIP was repacked",
      run: "install",
      code: 1603,
      machine: { PnpCode: -536870325 },
    },
    { before: "installed", run: "uninstall", ranBefore: ["install"] },
    { before: "not installed", run: "uninstall" },
    {
      before: "installed; another queue uses the driver",
      run: "uninstall",
      ranBefore: ["install"],
      changesSince: { Queues: [inHall, theirs] },
    },
    {
      before: "installed; a job is stuck, another was printed and is kept",
      run: "uninstall",
      ranBefore: ["install"],
      changesSince: { Queues: [{ ...inHall, Jobs: [stuckJob, keptJob] }] },
    },
    {
      before: "installed; two open jobs do not finish",
      run: "uninstall",
      code: 1618,
      ranBefore: ["install"],
      changesSince: { Queues: [{ ...inHall, Jobs: [1, 2] }] },
    },
  ],
};
