import assert from "node:assert/strict";
import type { Deployable } from "../../../src/pkg/scripts/deployment.ts";
import { revisionOf } from "../../../src/pkg/scripts/revision.ts";
import type { Machine, RunResult } from "./powershell.ts";

/** A TCP/IP port of a simulated machine. */
export const tcpPort = (Name: string, PrinterHostAddress = "10.0.0.9") => ({
  Name,
  PrinterHostAddress,
  PortNumber: 9100,
  Protocol: 1,
  SNMPEnabled: false,
});

/** A queue without jobs. */
export const queue = (Name: string, PortName: string, DriverName = "Papyrus 100 PCL6") => ({
  Name,
  PortName,
  DriverName,
  Location: "",
  Comment: "",
  Shared: false,
  ShareName: "",
  Jobs: [],
  Configuration: { DuplexingMode: "OneSided", Color: true, Collate: true, PaperSize: "Letter" },
});

/** The driver of `deployable`, as Windows lists it. */
export const papyrusDriver = (Version = "1.2.3.4", date = "06/21/2025") => ({
  Name: "Papyrus 100 PCL6",
  Version,
  Date: date,
});

/** A machine that already has the queue, port and driver of `deployable`, but not its marker. */
export const readyMachine = (
  ofQueue: Record<string, unknown> = {},
  ofPort: Record<string, unknown> = {},
  more: Machine = {},
): Machine => ({
  Queues: [{ ...queue("Office", "IP_10.0.0.9"), ...ofQueue }],
  Ports: [{ Name: "LPT1:" }, { ...tcpPort("IP_10.0.0.9"), ...ofPort }],
  Drivers: [papyrusDriver()],
  ...more,
});

/** Registry key in which install records the printer of `deployable`. */
export const markerPath = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Platen\\Printers\\7";

/** What install records of a printer. */
export const markerOf = (what: Deployable, PortName = "IP_10.0.0.9") => ({
  Queue: what.printer.name,
  PortName,
  Revision: revisionOf(what),
  Deployed: "2026-10-01T08:00:00Z",
});

/** Registry key with a user's default printer. */
export const defaultPrinterKey = (sid: string) =>
  `HKEY_USERS\\${sid}\\Software\\Microsoft\\Windows NT\\CurrentVersion\\Windows`;

/** The queue “Office” after a run. */
export function getQueue(result: RunResult): Record<string, unknown> {
  const queue = result.machine.Queues.find((each) => each.Name === "Office");
  assert.ok(queue, `no queue Office: ${result.output.join(" ")}`);
  return queue;
}

/** Everything on the machine that the scripts could have created; queues, ports and drivers of others too. */
export function traces(result: RunResult): string[] {
  const keys = Object.keys(result.machine.Registry).filter((path) => /Platen|WSD Port.Ports./.test(path));
  const queues = result.machine.Queues.map(({ Name }) => `queue ${Name}`);
  const ports = result.machine.Ports.filter(
    ({ PrinterHostAddress, Monitor }) => PrinterHostAddress || Monitor,
  ).map(({ Name }) => `port ${Name}`);
  return [...keys, ...queues, ...ports, ...result.machine.Drivers.map(({ Name }) => `driver ${Name}`)];
}
