import { createHash } from "node:crypto";
import { chosenInf, type Driver, type DriverSummary } from "../../domain/driver.ts";
import {
  effectiveDescription,
  ippUrlOf,
  isDriverOnly,
  type Printer,
  shareNameOf,
} from "../../domain/printer.ts";
import { slug } from "../../domain/slug.ts";
import type { PowerShellValue } from "./powershell.ts";

/** A printer with the driver it is deployed with; both are complete. */
export interface Deployable {
  readonly printer: Printer;
  readonly driver: Driver;
}

/** Where a script fetched alone gets a driver's files; one in a package has them beside it. */
export interface FilesDownload {
  readonly url: string;
  /** Of the ZIP at that address, in hex; empty where there is none now. */
  readonly sha256: string;
}

/** What a script deploys: printers, each of their drivers once. */
export interface Deployment {
  readonly printers: readonly Deployable[];
  /** In a package, where each driver's files are, by the driver's id. */
  readonly folders: ReadonlyMap<number, string>;
  /** For a script fetched alone, by the driver's id; a script in a package carries no address. */
  readonly downloads: ReadonlyMap<number, FilesDownload>;
  /** Of the log file, without what goes around it. */
  readonly title: string;
}

/** What stands on top of a script: nothing but literals, so that it can cross threads as JSON. */
export type ScriptSettings = { readonly [key: string]: PowerShellValue };

/** Raised only when a change of the scripts must reach machines that are deployed already. */
const generation = 1;

/** The folder of the only driver of a package. */
export const driverFolder = "driver";

/** One printer by itself. */
export function deploymentOf(deployable: Deployable, download?: FilesDownload): Deployment {
  const { id } = deployable.driver;
  return {
    printers: [deployable],
    folders: new Map([[id, driverFolder]]),
    downloads: new Map(download === undefined ? [] : [[id, download]]),
    title: deployable.printer.name,
  };
}

/**
 * Several printers in one: a folder for each driver, named by its content.
 * @param downloads for scripts fetched alone, by the driver's id
 */
export function deploymentOfMany(
  title: string,
  printers: readonly Deployable[],
  downloads: Deployment["downloads"] = new Map(),
): Deployment {
  const folders = new Map(
    printers.map(({ driver }) => [driver.id, `${driverFolder}/${driver.sha256.slice(0, 12)}`] as const),
  );
  return { printers, folders, downloads, title };
}

/** The block of literals on top of each script. */
export function scriptSettings(deployment: Deployment): ScriptSettings {
  const work = settingsByPrinter(deployment);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** The same, stopping after each printer: where there are many, others can have their turn in between. */
export function* settingsByPrinter(deployment: Deployment): Generator<undefined, ScriptSettings> {
  const drivers = new Map(deployment.printers.map(({ driver }) => [driver.id, driver]));
  const used = new Map([...drivers].map(([id, driver]) => [id, driverSettings(driver)]));
  const usedText = new Map([...used].map(([id, settings]) => [id, JSON.stringify(settings)]));
  const Printers: PowerShellValue[] = [];
  for (const { printer, driver } of deployment.printers) {
    const settings = printerSettings(printer, driver);
    const revision = revisionFrom(JSON.stringify(settings), usedText.get(driver.id) ?? "");
    Printers.push({
      Id: printer.id,
      Revision: revision,
      DriverKey: `driver-${driver.id}`,
      ...unsetSettings,
      ...settings,
      Subnets: printer.subnets,
    });
    yield;
  }
  return {
    LogName: `Platen-${slug(deployment.title) || "printers"}`,
    Drivers: [...used].map(([id, settings]) => ({
      Key: `driver-${id}`,
      Folder: windowsPath(deployment.folders.get(id) ?? driverFolder),
      Download: deployment.downloads.get(id)?.url ?? "",
      FilesSha256: (deployment.downloads.get(id)?.sha256 ?? "").toUpperCase(),
      Origin: "package",
      ...settings,
    })),
    Printers,
  };
}

/** The revisions that a script's settings name, by printer. */
export function revisionsIn({ Printers }: ScriptSettings): { id: number; revision: string }[] {
  const printers = (Array.isArray(Printers) ? Printers : []) as { Id: number; Revision: string }[];
  return printers.map(({ Id, Revision }) => ({ id: Id, revision: Revision }));
}

/**
 * The first 12 hex digits of a SHA-256 over everything that the scripts use of a printer. Where a package
 * puts the driver, or which service it comes from, makes no difference.
 */
export function revisionOf({ printer, driver }: Deployable): string {
  return revisionsWith(driver)(printer);
}

/** The same for many printers of a driver, which is looked at once and not kept: its report may be large. */
export function revisionsWith(driver: Driver): (printer: Printer) => string {
  const driverText = JSON.stringify(driverSettings(driver));
  const { driver_desc } = driver;
  return (printer) => revisionFrom(JSON.stringify(printerSettings(printer, { driver_desc })), driverText);
}

/**
 * Tells what several printers deploy from what they deployed before, in 12 hex digits. It needs no driver's report, so
 * it is no revision: detection does not know it.
 */
export function labelOfMany(
  printers: readonly { readonly printer: Printer; readonly driver: DriverSummary }[],
): string {
  const hash = createHash("sha256");
  for (const { printer, driver } of printers) {
    const { sha256, inf_path, trust_publisher } = driver;
    const used = [printer.id, printerSettings(printer, driver), sha256, inf_path, trust_publisher];
    hash.update(JSON.stringify(used));
  }
  return hash.digest("hex").slice(0, 12);
}

/** A client's driver may be large and have a thousand printers: its text is made once for all of them. */
function revisionFrom(printerText: string, driverText: string): string {
  const used = `[${generation},${printerText},${driverText}]`;
  return createHash("sha256").update(used).digest("hex").slice(0, 12);
}

function driverSettings(driver: Driver) {
  const inf = chosenInf(driver);
  return {
    ...(driver.origin === "upload" ? {} : { Origin: driver.origin }),
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

function printerSettings(printer: Printer, driver: Pick<Driver, "driver_desc">) {
  return {
    Name: printer.name,
    DriverName: effectiveDescription(printer, driver),
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
    ...setSettings(printer),
  };
}

/** What each printer of a script has, and what younger settings are where nobody set them. */
const unsetSettings = {
  Arm64DriverKey: "",
  Arm64DriverName: "",
  IppUrl: "",
  PrintTicket: "",
  ResetUserPreferences: false,
};

/** Settings that came later, each only where it is set: all other printers keep the revisions that they have. */
function setSettings(printer: Printer): { [Name in keyof typeof unsetSettings]?: PowerShellValue } {
  return {
    ...(printer.protocol === "ipp" && { IppUrl: ippUrlOf(printer) }),
    ...(printer.print_ticket !== "" && { PrintTicket: printer.print_ticket }),
    ...(printer.reset_user_preferences && { ResetUserPreferences: true }),
  };
}

function windowsPath(path: string): string {
  return path.replaceAll("/", "\\");
}
