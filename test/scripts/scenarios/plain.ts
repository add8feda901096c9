import { deployable } from "../../support/powershell/powershell.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import { papyrus, queue, tcp } from "../../support/powershell/simulated-machine.ts";

const lpt = { Name: "LPT1:" };
const inHall = { ...queue("Office", "IP_10.0.0.9"), Location: "Hall" };
const other = { Name: "Papyrus 200", Version: "3.0.0.0", Date: "01/01/2025" };
const theirs = queue("Theirs", "LPT1:");

/** The plain case: a queue on a TCP/IP port with a driver that was uploaded. */
export const plain: ScenarioGroup = {
  title: "A TCP/IP printer with a vendor’s driver",
  about:
    "_Office_ at 10.0.0.9, port 9100, location _Hall_, with the driver _Papyrus 100 PCL6_ 1.2.3.4 of 2025-06-21 for x64 in its package.",
  what: deployable({ location: "Hall" }),
  scenarios: [
    { before: "nothing of it is there", run: "detect", code: 1 },
    { before: "nothing of it is there", run: "install" },
    { before: "installed", run: "detect", after: ["install"] },
    { before: "installed", run: "install", after: ["install"] },
    {
      before: "installed; somebody has changed the port’s address",
      run: "detect",
      code: 1,
      after: ["install"],
      since: { Ports: [lpt, tcp("IP_10.0.0.9", "10.0.0.1")] },
    },
    {
      before: "installed; somebody has changed the port’s address",
      run: "install",
      after: ["install"],
      since: { Ports: [lpt, tcp("IP_10.0.0.9", "10.0.0.1")] },
    },
    {
      before: "installed; somebody has given the queue another driver",
      run: "install",
      after: ["install"],
      since: { Queues: [{ ...inHall, DriverName: other.Name }], Drivers: [papyrus(), other] },
    },
    {
      before: "installed; somebody has changed the location, two jobs are open",
      run: "install",
      after: ["install"],
      since: { Queues: [{ ...inHall, Location: "Cellar", Jobs: [1, 2] }] },
    },
    {
      before: "an older driver is there, and somebody’s queue has it",
      run: "install",
      machine: { Drivers: [papyrus("1.2.3.3")], Queues: [theirs] },
    },
    {
      before: "a newer driver is there",
      run: "install",
      machine: { Drivers: [papyrus("2.0.0.0", "01/01/2026")] },
    },
    {
      before: "Windows asks for a restart after the driver",
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
    { before: "installed", run: "uninstall", after: ["install"] },
    { before: "nothing of it is there", run: "uninstall" },
    {
      before: "installed; another queue has the same driver",
      run: "uninstall",
      after: ["install"],
      since: { Queues: [inHall, theirs] },
    },
    {
      before: "installed; two jobs are open and stay",
      run: "uninstall",
      code: 1618,
      after: ["install"],
      since: { Queues: [{ ...inHall, Jobs: [1, 2] }] },
    },
  ],
};
