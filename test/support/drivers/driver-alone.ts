import type { DriverDeployment } from "../../../src/pkg/scripts/driver-deployment.ts";
import { deployable, type RunResult } from "../powershell/powershell.ts";
import { makeDriver } from "../records.ts";

/** The names of a driver that has several. */
export const [pcl, ps, fax] = ["Papyrus 100 PCL6", "Papyrus 100 PS", "Papyrus 100 Fax"] as const;

const inf = { descriptions: [pcl, ps, fax] };

/** What the driver is called. */
export const title = "Papyrus papyrus.inf 1.2.3.4";

/** Where install records what it deployed of the driver by itself. */
export const driverMarker = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Platen\\Printers\\driver-1";

/** The driver by itself, under some of its names. */
export function alone(...models: [string, ...string[]]): DriverDeployment {
  return { driver: manyNames(), models };
}

export function manyNames(more: Parameters<typeof makeDriver>[0] = {}) {
  return makeDriver({ inf, ...more });
}

/** A printer with one of its names. */
export function printerWith(driver_desc: string, fields: Record<string, string> = {}) {
  return deployable({ driver_desc, ...fields }, { inf });
}

export function driversOf(result: RunResult): string[] {
  return result.machine.Drivers.map(({ Name }) => Name);
}

export function lastLine(result: RunResult): string {
  return result.output.at(-1) ?? "";
}
