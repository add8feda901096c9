import assert from "node:assert/strict";
import type { RunResult } from "./powershell.ts";

/** A TCP/IP port, as a machine that a test describes has it. */
export const tcp = (Name: string, PrinterHostAddress = "10.0.0.9") => ({
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

/** The driver of `deployable`, as installed. */
export const papyrus = (Version = "1.2.3.4", date = "06/21/2025") => ({
  Name: "Papyrus 100 PCL6",
  Version,
  Date: date,
});

/** Where install records what it deployed of the printer of `deployable`. */
export const markerPath = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Platen\\Printers\\7";

/** Where a user's default printer stands. */
export const userPath = (sid: string) =>
  `HKEY_USERS\\${sid}\\Software\\Microsoft\\Windows NT\\CurrentVersion\\Windows`;

export function queueOf(result: RunResult, name = "Office"): Record<string, unknown> {
  const found = result.machine.Queues.find((each) => each.Name === name);
  assert.ok(found, `no queue ${name}: ${result.output.join(" ")}`);
  return found;
}

export function portOf(result: RunResult, name: unknown): Record<string, unknown> | undefined {
  return result.machine.Ports.find((port) => port.Name === name);
}

/** What is left on a machine of what the scripts made. */
export function traces(result: RunResult): string[] {
  const keys = Object.keys(result.machine.Registry).filter((path) => /Platen|WSD Port.Ports./.test(path));
  const queues = result.machine.Queues.map(({ Name }) => `queue ${Name}`);
  const ports = result.machine.Ports.filter(
    ({ PrinterHostAddress, Monitor }) => PrinterHostAddress || Monitor,
  ).map(({ Name }) => `port ${Name}`);
  return [...keys, ...queues, ...ports, ...result.machine.Drivers.map(({ Name }) => `driver ${Name}`)];
}
