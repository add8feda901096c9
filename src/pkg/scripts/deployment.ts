import { createHash } from "node:crypto";
import type { Driver } from "../../domain/drivers/driver.ts";
import { arm64Description, driversOf } from "../../domain/printers/arm64-driver.ts";
import type { Client } from "../../domain/printers/client.ts";
import {
  effectiveDescription,
  ippUrlOf,
  isDriverOnly,
  type Printer,
  shareNameOf,
} from "../../domain/printers/printer.ts";
import { effectiveSubnets } from "../../domain/subnet.ts";
import { slug } from "../../domain/text.ts";
import {
  driverEntry,
  driverFolder,
  driverKey,
  driverSettings,
  type FilesDownload,
} from "./driver-settings.ts";
import type { PowerShellValue } from "./powershell.ts";

/** A printer with the drivers it is deployed with; all are complete. */
export interface Deployable {
  readonly printer: Printer;
  readonly driver: Driver;
  /** Of ARM64 machines, where they take another one. */
  readonly arm64Driver: Driver | undefined;
  /** Whose it is: where it belongs may be said there. */
  readonly client?: Pick<Client, "subnets"> | undefined;
}

/** What a script deploys: printers, each of their drivers once. */
export interface Deployment {
  readonly printers: readonly Deployable[];
  /** In a package, where each driver's files are, by the driver's id. */
  readonly folders: ReadonlyMap<number, string>;
  /** For a script fetched alone, by the driver's id; a script in a package carries no address. */
  readonly downloads: ReadonlyMap<number, FilesDownload>;
  /** Whether uploaded drivers are installed by packages of their own: these scripts only look whether they are there. */
  readonly isApart?: boolean;
  /** Of the log file, without what goes around it. */
  readonly title: string;
}

/** What stands on top of a script: nothing but literals, so that it can cross threads as JSON. */
export type ScriptSettings = { readonly [key: string]: PowerShellValue };

/** Raised only when a change of the scripts must reach machines that are deployed already. */
const generation = 1;

/** The folder of a printer's second driver in its own package. */
const arm64DriverFolder = "driver-arm64";

/**
 * One printer by itself.
 * @param downloads for a script fetched alone, by the driver's id
 */
export function deploymentOf(
  deployable: Deployable,
  downloads: Deployment["downloads"] = new Map(),
): Deployment {
  const folders = new Map(
    driversOf(deployable).map(({ id }, i) => [id, i === 0 ? driverFolder : arm64DriverFolder] as const),
  );
  return { printers: [deployable], folders, downloads, title: deployable.printer.name };
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
    printers
      .flatMap(driversOf)
      .map(({ id, sha256 }) => [id, `${driverFolder}/${sha256.slice(0, 12)}`] as const),
  );
  return { printers, folders, downloads, title };
}

/** The same without its uploaded drivers, which other packages install. */
export function deploymentApart(deployment: Deployment): Deployment {
  return { ...deployment, folders: new Map(), downloads: new Map(), isApart: true };
}

/** The drivers of a deployment, each once. */
export function driversIn({ printers }: Pick<Deployment, "printers">): Driver[] {
  return [...new Map(printers.flatMap(driversOf).map((driver) => [driver.id, driver])).values()];
}

/** The block of literals on top of each script. */
export function scriptSettings(deployment: Deployment): ScriptSettings {
  const drivers = driversIn(deployment);
  const usedText = new Map(drivers.map((driver) => [driver.id, JSON.stringify(driverSettings(driver))]));
  const textOf = ({ id }: Driver) => usedText.get(id) ?? "";
  const Printers = deployment.printers.map((deployable): PowerShellValue => {
    const { printer, driver, arm64Driver, client } = deployable;
    const settings = printerSettings(deployable);
    const revision = revisionFrom(
      JSON.stringify(settings),
      textOf(driver),
      arm64Driver && textOf(arm64Driver),
    );
    return {
      Id: printer.id,
      Revision: revision,
      DriverKey: driverKey(driver),
      ...unsetSettings,
      Arm64DriverKey: arm64Driver ? driverKey(arm64Driver) : "",
      ...settings,
      Subnets: effectiveSubnets(printer, client),
    };
  });
  return {
    LogName: `Platen-${slug(deployment.title) || "printers"}`,
    Drivers: drivers.map((driver) =>
      driverEntry(driver, {
        folder: deployment.folders.get(driver.id),
        download: deployment.downloads.get(driver.id),
        isApart: deployment.isApart ?? false,
      }),
    ),
    Printers,
  };
}

/** The revisions that a script's settings name, by printer. */
export function revisionsIn({ Printers }: ScriptSettings): { id: number; revision: string }[] {
  const printers = (Array.isArray(Printers) ? Printers : []) as { Id: number; Revision: string }[];
  return printers.map(({ Id, Revision }) => ({ id: Id, revision: Revision }));
}

/**
 * A client's driver may be large and have a thousand printers: its text is made once for all of them.
 * @param arm64Text of the second driver, where there is one
 */
export function revisionFrom(printerText: string, driverText: string, arm64Text: string | undefined): string {
  const drivers = arm64Text === undefined ? driverText : `${driverText},${arm64Text}`;
  const used = `[${generation},${printerText},${drivers}]`;
  return createHash("sha256").update(used).digest("hex").slice(0, 12);
}

const duplexNames = {
  "": "",
  one_sided: "OneSided",
  long_edge: "TwoSidedLongEdge",
  short_edge: "TwoSidedShortEdge",
};

/** A printer with what is known of its drivers. */
export interface PrinterOf<T> {
  readonly printer: Printer;
  readonly driver: T;
  readonly arm64Driver: T | undefined;
}

/** What scripts know of a printer, whatever its number is. */
export function printerSettings({ printer, driver, arm64Driver }: PrinterOf<Pick<Driver, "driver_desc">>) {
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
    ...(arm64Driver && { Arm64DriverName: arm64Description(printer, arm64Driver) }),
    ...setSettings(printer),
  };
}

/** What each entry of a script has, and what younger settings are where nobody set them. */
export const unsetSettings = {
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
