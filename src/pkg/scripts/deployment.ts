import { createHash } from "node:crypto";
import { chosenInf, type Driver } from "../../domain/drivers/driver.ts";
import { modelSpelling } from "../../domain/drivers/models.ts";
import type { Client } from "../../domain/printers/client.ts";
import { usedPreferences } from "../../domain/printers/preferences.ts";
import {
  effectiveDescription,
  ippUrlOf,
  isDriverOnly,
  type Printer,
  shareNameOf,
} from "../../domain/printers/printer.ts";
import { arm64Description, driversOf, type PrinterDrivers } from "../../domain/printers/printer-drivers.ts";
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

export interface PrinterWithDrivers<T> extends PrinterDrivers<T> {
  readonly printer: Printer;
}

/** A printer with its drivers. All of them have what a deployment needs. */
export interface Deployable extends PrinterWithDrivers<Driver> {
  /** The client's subnets apply where the printer has none. */
  readonly client?: Pick<Client, "subnets"> | undefined;
}

/** The printers that a script deploys, and where it finds their drivers. */
export interface Deployment {
  readonly printers: readonly Deployable[];
  /** Each driver's folder in the package, by the driver's id. */
  readonly folders: ReadonlyMap<number, string>;
  /** For a script downloaded alone, by the driver's id. A script in a package contains no address. */
  readonly downloads: ReadonlyMap<number, FilesDownload>;
  /** The files with vendor preferences in the package, with `/`, by the printer's id. */
  readonly preferences: ReadonlyMap<number, string>;
  /** Where a script downloaded alone gets them, by the printer's id. */
  readonly preferencesUrl?: ((printerId: number) => string) | undefined;
  /** Whether other packages install the uploaded drivers. The scripts then only check that these are installed. */
  readonly omitsDriver?: boolean;
  /** The name of the log file on the machines is a slug of this. */
  readonly title: string;
}

/** The settings block at the top of a script. It is plain data, so it can be sent to another thread as JSON. */
export type ScriptSettings = { readonly [key: string]: PowerShellValue };

/** Part of every revision. Raise it only when a change of the scripts must reach machines that are already deployed. */
const generation = 1;

/** The folder of the driver for ARM64 in the package of a single printer. */
const arm64DriverFolder = "driver-arm64";

/** Deploys one printer. @param downloads for a script downloaded alone, by the driver's id */
export function deploymentOf(
  deployable: Deployable,
  downloads: Deployment["downloads"] = new Map(),
): Deployment {
  const folders = new Map(
    driversOf(deployable).map(({ id }, i) => [id, i === 0 ? driverFolder : arm64DriverFolder] as const),
  );
  const preferences = preferencesFiles([deployable], () => "preferences.dat");
  return { printers: [deployable], folders, downloads, preferences, title: deployable.printer.name };
}

/**
 * Deploys several printers together. Each driver has its own folder, named by the driver's digest.
 * @param downloads for scripts downloaded alone, by the driver's id
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
  const preferences = preferencesFiles(printers, ({ id }) => `preferences/${id}.dat`);
  return { printers, folders, downloads, preferences, title };
}

function preferencesFiles(printers: readonly Deployable[], nameOf: (printer: Printer) => string) {
  const used = printers.filter(({ printer }) => usedPreferences(printer) !== "");
  return new Map(used.map(({ printer }) => [printer.id, nameOf(printer)] as const));
}

/** The same deployment without its uploaded drivers, which other packages install. */
export function withoutDrivers(deployment: Deployment): Deployment {
  return { ...deployment, folders: new Map(), downloads: new Map(), omitsDriver: true };
}

export function driversIn({ printers }: Pick<Deployment, "printers">): Driver[] {
  return [...new Map(printers.flatMap(driversOf).map((driver) => [driver.id, driver])).values()];
}

export function scriptSettings(deployment: Deployment): ScriptSettings {
  const drivers = driversIn(deployment);
  const driverTexts = new Map(drivers.map((driver) => [driver.id, JSON.stringify(driverSettings(driver))]));
  const textOf = ({ id }: Driver) => driverTexts.get(id) ?? "";
  const driverModels = new Map(drivers.map((driver) => [driver.id, modelOf(driver)]));
  const modelsOf = (driver: Driver) => driverModels.get(driver.id) ?? driver;
  const Printers = deployment.printers.map((deployable): PowerShellValue => {
    const { printer, driver, arm64Driver, client } = deployable;
    const settings = printerSettings({
      printer,
      driver: modelsOf(driver),
      arm64Driver: arm64Driver && modelsOf(arm64Driver),
    });
    const revision = revisionFrom(
      JSON.stringify(settings),
      textOf(driver),
      arm64Driver && textOf(arm64Driver),
    );
    return {
      Id: printer.id,
      Revision: revision,
      DriverKey: driverKey(driver),
      ...optionalDefaults,
      Arm64DriverKey: arm64Driver ? driverKey(arm64Driver) : "",
      ...settings,
      Subnets: effectiveSubnets(printer, client),
      RequiresReachable: printer.requires_reachable,
      ...preferencesLocation(deployment, printer),
    };
  });
  return {
    LogName: `Platen-${slug(deployment.title) || "printers"}`,
    Drivers: drivers.map((driver) =>
      driverEntry(driver, {
        folder: deployment.folders.get(driver.id),
        download: deployment.downloads.get(driver.id),
        omitsDriver: deployment.omitsDriver ?? false,
      }),
    ),
    Printers,
  };
}

/** Where a script finds a printer's vendor preferences. It does not count towards the revision. */
function preferencesLocation({ preferences, preferencesUrl }: Deployment, printer: Printer) {
  const file = preferences.get(printer.id);
  if (file === undefined) return {};
  return preferencesUrl
    ? { PreferencesDownload: preferencesUrl(printer.id) }
    : { PreferencesFile: file.replaceAll("/", "\\") };
}

/** The id and the revision of each printer in a script's settings. */
export function revisionsIn({ Printers }: ScriptSettings): { id: number; revision: string }[] {
  const printers = (Array.isArray(Printers) ? Printers : []) as { Id: number; Revision: string }[];
  return printers.map(({ Id, Revision }) => ({ id: Id, revision: Revision }));
}

/**
 * The first 12 hex digits of a SHA-256. It takes texts because a driver's text may be large and a thousand printers may
 * use it: callers make each text only once.
 * @param arm64Text of the driver for ARM64, if there is one
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

interface DriverModel extends Pick<Driver, "driver_desc"> {
  /** Returns a model as the INF spells it. Undefined: as it is. */
  readonly spelling?: (model: string) => string;
}

/** What printers' settings need of a driver. It does not keep the driver, whose report may be large. */
export function modelOf(driver: Driver): DriverModel {
  return { driver_desc: driver.driver_desc, spelling: modelSpelling(chosenInf(driver)) };
}

/** A printer's settings in scripts, without its id. They count towards its revision. */
export function printerSettings({ printer, driver, arm64Driver }: PrinterWithDrivers<DriverModel>) {
  const spelled = ({ spelling }: DriverModel, model: string) => spelling?.(model) ?? model;
  return {
    Name: printer.name,
    DriverName: spelled(driver, effectiveDescription(printer, driver)),
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
    ...(arm64Driver && {
      Arm64DriverName: spelled(arm64Driver, arm64Description(printer, arm64Driver)),
    }),
    ...optionalSettings(printer),
  };
}

/** Defaults of the settings that were added later. Every printer in a script has these keys. */
export const optionalDefaults = {
  Arm64DriverKey: "",
  Arm64DriverName: "",
  IppUrl: "",
  PrintTicket: "",
  ResetUserPreferences: false,
  PermissionSddl: "",
  KeepPrinted: false,
  HoldMismatched: false,
  PreferencesSha256: "",
  PreferencesFile: "",
  PreferencesDownload: "",
};

/** The settings that were added later, each only if it is set, so that printers without them keep their revisions. */
function optionalSettings(printer: Printer): { [Name in keyof typeof optionalDefaults]?: PowerShellValue } {
  return {
    ...(printer.protocol === "ipp" && { IppUrl: ippUrlOf(printer) }),
    ...(printer.print_ticket !== "" && { PrintTicket: printer.print_ticket }),
    ...(printer.reset_user_preferences && { ResetUserPreferences: true }),
    ...(printer.permission_sddl !== "" && { PermissionSddl: printer.permission_sddl }),
    ...(printer.keep_printed && { KeepPrinted: true }),
    ...(printer.hold_mismatched && { HoldMismatched: true }),
    ...(usedPreferences(printer) !== "" && { PreferencesSha256: usedPreferences(printer).toUpperCase() }),
  };
}
