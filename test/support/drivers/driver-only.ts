import type { DriverDeployment } from "../../../src/pkg/scripts/driver-deployment.ts";
import { deployable } from "../powershell/powershell.ts";
import { makeDriver } from "../records.ts";

/** The model names of the driver. */
export const [pcl, ps, fax] = ["Papyrus 100 PCL6", "Papyrus 100 PS", "Papyrus 100 Fax"] as const;

const inf = { descriptions: [pcl, ps, fax] };

/** The title of the driver. */
export const title = "Papyrus 100 PCL6/PS/Fax 1.2";

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
