import { chosenInf, type Driver, driverPackageName, shippedBy } from "../../domain/drivers/driver.ts";
import { isWindowsDriver } from "../../domain/drivers/windows-drivers.ts";

/** Where a script downloaded alone gets a driver's files. A script in a package has them beside it. */
export interface FilesDownload {
  readonly url: string;
  /** Digest of the ZIP at that address, in hex. Empty while there is no such ZIP. */
  readonly sha256: string;
}

export const driverFolder = "driver";

interface DriverLocation {
  /** In a package, with `/`. By default `driver`. */
  readonly folder: string | undefined;
  readonly download: FilesDownload | undefined;
  /** Whether another package installs the driver, if it was uploaded. */
  readonly omitsDriver: boolean;
}

export function driverEntry(driver: Driver, { folder, download, omitsDriver }: DriverLocation) {
  return {
    Key: driverKey(driver),
    Folder: windowsPath(folder ?? driverFolder),
    Download: download?.url ?? "",
    FilesSha256: (download?.sha256 ?? "").toUpperCase(),
    Origin: "package",
    ExactVersion: false,
    ...(omitsDriver && !isWindowsDriver(driver) && { Origin: "apart", Package: driverPackageName(driver) }),
    ...driverSettings(driver),
  };
}

/** A script's printers refer to their drivers by this key. The marker of a driver's own package has the same name. */
export function driverKey({ id }: Pick<Driver, "id">): string {
  return `driver-${id}`;
}

/** A driver's settings in scripts, without the location of its files. They count towards revisions. */
export function driverSettings(driver: Driver) {
  const inf = chosenInf(driver);
  return {
    ...(driver.origin === "upload" ? {} : { Origin: driver.origin }),
    Inf: windowsPath(driver.inf_path),
    Version: inf?.driverVer?.version ?? "",
    Date: inf?.driverVer?.date ?? "",
    Architectures: shippedBy(inf),
    Catalogs: inf?.catalogFiles.map(windowsPath) ?? [],
    TrustPublisher: driver.trust_publisher,
    Sha256: driver.sha256.toUpperCase(),
    // Only if it is set, so that other drivers keep their revisions.
    ...(driver.exact_version && { ExactVersion: true }),
  };
}

function windowsPath(path: string): string {
  return path.replaceAll("/", "\\");
}
