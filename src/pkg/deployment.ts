import { createHash } from "node:crypto";
import { chosenInf, type Driver } from "../domain/driver.ts";
import { isDriverOnly, type Printer, shareNameOf } from "../domain/printer.ts";
import { slug } from "./file-names.ts";
import type { PowerShellValue } from "./powershell.ts";

/** A printer with the driver it is deployed with; both are complete. */
export interface Deployable {
  readonly printer: Printer;
  readonly driver: Driver;
}

/** What a script deploys: printers, each of their drivers once. */
export interface Deployment {
  readonly printers: readonly Deployable[];
  /** In a package, where each driver's files are; a script fetched alone finds them at `driver`. */
  readonly folders: ReadonlyMap<number, string>;
  /** The service's address, for a script fetched alone; a script in a package carries none. */
  readonly serviceUrl: string | undefined;
  /** Of the log file, without what goes around it. */
  readonly title: string;
}

/** Raised only when a change of the scripts must reach machines that are deployed already. */
const generation = 1;

/** The folder of the only driver of a package. */
export const driverFolder = "driver";

/** One printer by itself. */
export function deploymentOf(deployable: Deployable, serviceUrl?: string): Deployment {
  return {
    printers: [deployable],
    folders: new Map([[deployable.driver.id, driverFolder]]),
    serviceUrl,
    title: deployable.printer.name,
  };
}

/** All printers of a client in one: a folder for each driver, named by its content. */
export function deploymentOfMany(title: string, printers: readonly Deployable[]): Deployment {
  const folders = new Map(
    printers.map(({ driver }) => [driver.id, `${driverFolder}/${driver.sha256.slice(0, 12)}`] as const),
  );
  return { printers, folders, serviceUrl: undefined, title };
}

/** The block of literals on top of each script. */
export function scriptSettings(deployment: Deployment): PowerShellValue {
  const drivers = new Map(deployment.printers.map(({ driver }) => [driver.id, driver]));
  return {
    LogName: `Platen-${slug(deployment.title) || "printers"}`,
    Drivers: [...drivers.values()].map((driver) => ({
      Key: `driver-${driver.id}`,
      Folder: windowsPath(deployment.folders.get(driver.id) ?? driverFolder),
      Download: downloadUrl(deployment, driver),
      ...driverSettings(driver),
    })),
    Printers: deployment.printers.map(({ printer, driver }) => ({
      Id: printer.id,
      Revision: revisionOf({ printer, driver }),
      DriverKey: `driver-${driver.id}`,
      ...printerSettings(printer, driver),
    })),
  };
}

/**
 * The first 12 hex digits of a SHA-256 over everything that the scripts use of a printer. Where a package
 * puts the driver, or which service it comes from, makes no difference.
 */
export function revisionOf({ printer, driver }: Deployable): string {
  const used = [generation, printerSettings(printer, driver), driverSettings(driver)];
  return createHash("sha256").update(JSON.stringify(used)).digest("hex").slice(0, 12);
}

function downloadUrl({ serviceUrl }: Deployment, driver: Driver): string {
  return serviceUrl === undefined ? "" : `${serviceUrl}/drivers/${driver.id}/archive`;
}

function driverSettings(driver: Driver) {
  const inf = chosenInf(driver);
  return {
    Inf: windowsPath(driver.inf_path),
    Version: inf?.driverVer?.version ?? "",
    Date: inf?.driverVer?.date ?? "",
    Architectures: inf?.architectures.filter((architecture) => !inf.notShipped.includes(architecture)) ?? [],
    Catalogs: inf?.catalogFiles.map(windowsPath) ?? [],
    TrustPublisher: driver.trust_publisher,
    Sha256: driver.sha256.toUpperCase(),
  };
}

const duplexNames = {
  "": "",
  one_sided: "OneSided",
  long_edge: "TwoSidedLongEdge",
  short_edge: "TwoSidedShortEdge",
};

function printerSettings(printer: Printer, driver: Driver) {
  return {
    Name: printer.name,
    DriverName: printer.driver_desc || driver.driver_desc,
    HasQueue: !isDriverOnly(printer),
    PortName: printer.port_name,
    Address: printer.address,
    Protocol: printer.protocol,
    PortNumber: printer.port_number,
    LprQueue: printer.lpr_queue,
    Snmp: printer.snmp,
    SnmpCommunity: printer.snmp_community,
    SnmpIndex: printer.snmp_index,
    Location: printer.location,
    Comment: printer.comment,
    SetDefault: printer.set_default,
    Shared: printer.shared,
    ShareName: shareNameOf(printer),
    Duplex: duplexNames[printer.duplex],
    Color: printer.color === "" ? null : printer.color === "color",
    Collate: printer.collate === "" ? null : printer.collate === "on",
    PaperSize: printer.paper_size,
    KeepDriver: printer.keep_driver,
    Replaces: printer.replaces,
  };
}

function windowsPath(path: string): string {
  return path.replaceAll("/", "\\");
}
