import { type Driver, driverTitle } from "../../domain/drivers/driver.ts";
import { slug } from "../../domain/text.ts";
import { type ScriptSettings, unsetSettings } from "./deployment.ts";
import { driverEntry, driverFolder, type FilesDownload } from "./driver-settings.ts";
import { revisionOfDriver } from "./revision.ts";

/** A driver that is deployed by itself, under all names that printers use. */
export interface DriverDeployment {
  readonly driver: Driver;
  /** One at least. */
  readonly models: readonly [string, ...string[]];
  /** For a script fetched alone. */
  readonly download?: FilesDownload | undefined;
}

/**
 * The block of literals on top of its scripts: one printer without a queue that has several names of drivers. Its marker
 * stands beside those of printers, whose uninstall scripts find their driver's name among its names.
 */
export function driverScriptSettings({ driver, models, download }: DriverDeployment): ScriptSettings {
  const title = driverTitle(driver);
  const entry = driverEntry(driver, { folder: driverFolder, download, isApart: false });
  return {
    LogName: `Platen-driver-${slug(title) || driver.id}`,
    Drivers: [entry],
    Printers: [
      {
        Id: entry.Key,
        Revision: revisionOfDriver(driver),
        DriverKey: entry.Key,
        ...unsetSettings,
        Name: title,
        DriverName: models[0],
        DriverNames: models,
        HasQueue: false,
      },
    ],
  };
}
