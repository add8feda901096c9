import { chosenInf, type Driver, driverPackageName, shippedBy } from "../../domain/drivers/driver.ts";
import { isWindowsOwn } from "../../domain/drivers/windows-drivers.ts";

/** Where a script fetched alone gets a driver's files; one in a package has them beside it. */
export interface FilesDownload {
  readonly url: string;
  /** Of the ZIP at that address, in hex; empty where there is none now. */
  readonly sha256: string;
}

/** The folder of a printer's driver in its own package. */
export const driverFolder = "driver";

/** How a script comes to a driver. */
interface Way {
  /** In a package, with `/`. */
  readonly folder: string | undefined;
  readonly download: FilesDownload | undefined;
  /** Whether an uploaded driver's own package installs it. */
  readonly isApart: boolean;
}

/** A driver as all scripts find it. */
export function driverEntry(driver: Driver, { folder = driverFolder, download, isApart }: Way) {
  return {
    Key: driverKey(driver),
    Folder: windowsPath(folder),
    Download: download?.url ?? "",
    FilesSha256: (download?.sha256 ?? "").toUpperCase(),
    Origin: "package",
    ...(isApart && !isWindowsOwn(driver) && { Origin: "apart", Package: driverPackageName(driver) }),
    ...driverSettings(driver),
  };
}

/** What printers name their drivers by in a script, and a driver's own package its marker on machines. */
export function driverKey({ id }: Pick<Driver, "id">): string {
  return `driver-${id}`;
}

/** What scripts know of a driver, wherever its files are. */
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
  };
}

function windowsPath(path: string): string {
  return path.replaceAll("/", "\\");
}
