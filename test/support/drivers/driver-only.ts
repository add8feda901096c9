import type { DriverDeployment } from "../../../src/pkg/scripts/driver-deployment.ts";
import { deployable, type RunResult } from "../powershell/powershell.ts";
import { makeDriver } from "../records.ts";

/** The model names of the driver. */
export const [pcl, ps, fax] = ["Papyrus 100 PCL6", "Papyrus 100 PS", "Papyrus 100 Fax"] as const;

const inf = { descriptions: [pcl, ps, fax] };

/** The title of the driver. */
export const title = "Papyrus 100 PCL6/PS/Fax 1.2";

/** The registry key in which the install script records a driver-only deployment. */
export const driverMarker = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Platen\\Printers\\driver-1";

/** A driver-only deployment of some of the models. */
export function driverOnly(...models: [string, ...string[]]): DriverDeployment {
  return { driver: driverWithModels(), models };
}

export function driverWithModels(more: Parameters<typeof makeDriver>[0] = {}) {
  return makeDriver({ inf, ...more });
}

/** A printer with one of the models. */
export function printerWith(driver_desc: string, fields: Record<string, string> = {}) {
  return deployable({ driver_desc, ...fields }, { inf });
}

export function driversOf(result: RunResult): string[] {
  return result.machine.Drivers.map(({ Name }) => Name);
}

export function lastLine(result: RunResult): string {
  return result.output.at(-1) ?? "";
}
