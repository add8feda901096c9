import type { Driver } from "../../../src/domain/drivers/driver.ts";
import {
  type Deployable,
  type Deployment,
  deploymentOf,
  driversIn,
  type ScriptSettings,
  scriptSettings,
} from "../../../src/pkg/scripts/deployment.ts";
import { type DriverDeployment, driverScriptSettings } from "../../../src/pkg/scripts/driver-deployment.ts";
import { driverFolder } from "../../../src/pkg/scripts/driver-settings.ts";

/** The input of scripts: one printer, several, or only a driver. */
export type Deployed = Deployment | Deployable | DriverDeployment;

export interface PackageParts {
  readonly settings: ScriptSettings;
  readonly drivers: readonly { readonly driver: Driver; readonly folder: string }[];
}

/** The parts of a package. */
export function packageParts(what: Deployed): PackageParts {
  if ("models" in what) {
    return { settings: driverScriptSettings(what), drivers: [{ driver: what.driver, folder: driverFolder }] };
  }
  const deployment = "printers" in what ? what : deploymentOf(what);
  const drivers = deployment.omitsDriver ? [] : driversIn(deployment);
  const folderOf = ({ id }: Driver) => deployment.folders.get(id) ?? driverFolder;
  return {
    settings: scriptSettings(deployment),
    drivers: drivers.map((driver) => ({ driver, folder: folderOf(driver) })),
  };
}
