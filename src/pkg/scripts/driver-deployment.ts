import { type Driver, packageTitle } from "../../domain/drivers/driver.ts";
import { slug } from "../../domain/text.ts";
import { optionalDefaults, type ScriptSettings } from "./deployment.ts";
import { driverEntry, driverFolder, type FilesDownload } from "./driver-settings.ts";
import { revisionOfDriver } from "./revision.ts";

/** A driver that is deployed without a printer, under all model names that printers use. */
export interface DriverDeployment {
  readonly driver: Driver;
  readonly models: readonly [string, ...string[]];
  /** For a script downloaded alone. */
  readonly download?: FilesDownload | undefined;
}

/**
 * The settings block of a driver's scripts: one printer without a queue and with several driver names. The driver's
 * marker is in the same registry key as those of printers, so their uninstall scripts see that a driver is still in use.
 */
export function driverScriptSettings({ driver, models, download }: DriverDeployment): ScriptSettings {
  const title = packageTitle(driver);
  const entry = driverEntry(driver, { folder: driverFolder, download, omitsDriver: false });
  return {
    LogName: `Platen-driver-${slug(title) || driver.id}`,
    Drivers: [entry],
    Printers: [
      {
        Id: entry.Key,
        Revision: revisionOfDriver(driver),
        DriverKey: entry.Key,
        ...optionalDefaults,
        Name: title,
        DriverName: models[0],
        DriverNames: models,
        HasQueue: false,
      },
    ],
  };
}
