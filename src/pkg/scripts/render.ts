import { getOrAdd, RecentMap } from "../../domain/collections.ts";
import { type Deployment, type ScriptSettings, scriptSettings } from "./deployment.ts";
import { packagedScripts, type ScriptKind, scriptKinds, scriptSources } from "./parts.ts";
import { asciiPowershell, type PowerShellValue, powershell } from "./powershell.ts";
import { aroundRegion, fileBytes, neededPieces, tabbed } from "./script-text.ts";

export { packagedScripts, type ScriptKind, scriptKinds };

/**
 * Renders a deployment's script as a file. Install and uninstall are UTF-8 with a byte order mark, without which Windows
 * PowerShell reads them in the ANSI code page. The others are ASCII, because Intune may store them in another encoding.
 * Lines end with CRLF.
 */
export function renderScript(kind: ScriptKind, deployment: Deployment): Buffer {
  return renderWithSettings(kind, scriptSettings(deployment));
}

export function renderWithSettings(kind: ScriptKind, settings: ScriptSettings): Buffer {
  return joined(kind, templateOf(kind, settings), settings);
}

/** The text before and after a script's settings. It is the same for all deployments with the same needs. */
export interface ScriptTemplate {
  readonly before: Buffer;
  readonly after: Buffer;
  /** The settings that the text reads. The script contains no others: some are secrets, which only install needs. */
  readonly usedSettings: ReadonlySet<string>;
}

/** The maximum number of templates in memory. An installation needs only a few. */
const maxTemplates = 100;
const templates = new RecentMap<string, ScriptTemplate>(maxTemplates);

/** Returns the same object for the same kind and needs, as long as it is in memory. */
export function templateOf(kind: ScriptKind, settings: ScriptSettings): ScriptTemplate {
  const needed = needsOf(settings);
  return getOrAdd(templates, `${kind} ${needed.join()}`, () => makeTemplate(kind, needed));
}

/** Scripts read settings as `$Printer.Name`, `$_.Name`, or by a name in quotes. */
const settingUses = /\$(?:Settings|Printer|Driver|_)\.(\w+)|'(\w+)'/gi;

function makeTemplate(kind: ScriptKind, needed: readonly Need[]): ScriptTemplate {
  const { body, parts } = scriptSources[kind];
  const isNeeded = (name: Need | ScriptKind) => name === kind || needed.some((need) => need === name);
  const pieces = (text: string) => neededPieces(text.replaceAll("\r\n", "\n"), isNeeded);
  const [start, end] = aroundRegion(pieces(body), "parts");
  const kept = parts.map((part) => pieces(part).trim()).filter((part) => part !== "");
  const whole = (start + kept.join("\n\n") + end).replace(/\n{3,}/g, "\n\n");
  const [before, after] = aroundRegion(whole, "settings");
  return {
    before: fileBytes((isAscii(kind) ? "" : "\ufeff") + tabbed(before)),
    after: fileBytes(tabbed(after)),
    usedSettings: new Set(
      [...after.matchAll(settingUses)].map(([, property, quoted]) => property ?? quoted ?? ""),
    ),
  };
}

function isAscii(kind: ScriptKind): boolean {
  return kind !== "install" && kind !== "uninstall";
}

function joined(kind: ScriptKind, template: ScriptTemplate, settings: ScriptSettings): Buffer {
  return Buffer.concat([template.before, settingsBlock(kind, template, settings), template.after]);
}

/** The settings block, which is put between the two pieces of a template. */
export function settingsBlock(kind: ScriptKind, template: ScriptTemplate, settings: ScriptSettings): Buffer {
  const tag = isAscii(kind) ? asciiPowershell : powershell;
  return fileBytes(tag`$Settings = ${usedOf(settings, template)}`);
}

function usedOf(
  settings: ScriptSettings,
  { usedSettings }: Pick<ScriptTemplate, "usedSettings">,
): ScriptSettings {
  const used = Object.entries(settings).filter(([name]) => usedSettings.has(name));
  const values = used.map(([name, value]) => {
    const isRecords = name === "Drivers" || name === "Printers";
    return [name, isRecords ? recordsIn(value).map((record) => usedOf(record, { usedSettings })) : value];
  });
  return Object.fromEntries(values);
}

/** The conditions under which a script contains a part. The names are those in `#<if name>` lines. */
const needs = {
  /** A printer, with a queue or without. */
  printer: ({ Printers }) => !Printers.some(isDriverAlone),
  one: ({ Printers }) => Printers.length <= 1,
  many: ({ Printers }) => Printers.length > 1,
  /** A driver without a printer, under several model names. */
  alone: ({ Printers }) => Printers.some(isDriverAlone),
  /** An uploaded driver that the script installs itself. */
  package: ({ Drivers }) => Drivers.some(({ Origin }) => Origin === "package"),
  /** A driver that is part of Windows. */
  windows: ({ Drivers }) => Drivers.some(({ Origin }) => Origin === "windows"),
  /** An uploaded driver that another package installs. */
  apart: ({ Drivers }) => Drivers.some(({ Origin }) => Origin === "apart"),
  download: ({ Drivers }) => Drivers.some(({ Download }) => isSet(Download)),
  /** Only a script that installs the driver trusts its publisher. */
  publisher: ({ Drivers }) =>
    Drivers.some(({ TrustPublisher, Origin }) => isSet(TrustPublisher) && Origin === "package"),
  /** A driver of which newer versions are replaced too. */
  exact: ({ Drivers }) =>
    Drivers.some(({ ExactVersion, Origin }) => isSet(ExactVersion) && Origin === "package"),
  arm64: ({ Printers }) => Printers.some(({ Arm64DriverKey }) => isSet(Arm64DriverKey)),
  queue: ({ Printers }) => Printers.some(({ HasQueue }) => isSet(HasQueue)),
  /** A queue on a TCP/IP or local port. */
  port: ({ Printers }) => Printers.some(({ HasQueue, IppUrl }) => isSet(HasQueue) && !isSet(IppUrl)),
  raw: ({ Printers }) => Printers.some(({ Protocol }) => Protocol === "raw"),
  lpr: ({ Printers }) => Printers.some(({ Protocol }) => Protocol === "lpr"),
  snmp: ({ Printers }) => Printers.some(({ Snmp }) => isSet(Snmp)),
  shared: ({ Printers }) => Printers.some(({ Shared }) => isSet(Shared)),
  ipp: ({ Printers }) => Printers.some(({ IppUrl }) => isSet(IppUrl)),
  preferences: ({ Printers }) =>
    Printers.some(({ Duplex, Color, Collate, PaperSize }) =>
      [Duplex, Color, Collate, PaperSize].some(isChosen),
    ),
  options: ({ Printers }) =>
    Printers.some((printer) =>
      [printer.PermissionSddl, printer.KeepPrinted, printer.HoldMismatched].some(isSet),
    ),
  /** A file with the vendor's own preferences. */
  files: ({ Printers }) => Printers.some(({ PreferencesSha256 }) => isSet(PreferencesSha256)),
  "preferences-download": ({ Printers }) =>
    Printers.some(({ PreferencesDownload }) => isSet(PreferencesDownload)),
  ticket: ({ Printers }) => Printers.some(({ PrintTicket }) => isSet(PrintTicket)),
  reset: ({ Printers }) => Printers.some(({ ResetUserPreferences }) => isSet(ResetUserPreferences)),
  default: ({ Printers }) => Printers.some(({ SetDefault }) => isSet(SetDefault)),
  connections: ({ Printers }) => Printers.some(replacesAny("\\\\")),
  /** Something happens at users' next log-on. */
  logon: ({ Printers }) => Printers.some(isForLogon),
  "no-logon": ({ Printers }) => !Printers.some(isForLogon),
  addresses: ({ Printers }) => Printers.some(replacesAny("address:")),
  reachable: ({ Printers }) => Printers.some(({ RequiresReachable }) => isSet(RequiresReachable)),
  subnets: ({ Printers }) => Printers.some(({ Subnets }) => Array.isArray(Subnets) && Subnets.length > 0),
} satisfies Record<string, (records: ScriptRecords) => boolean>;

type Need = keyof typeof needs;

interface ScriptRecords {
  readonly Drivers: readonly ScriptSettings[];
  readonly Printers: readonly ScriptSettings[];
}

/** The needs of a deployment's scripts, always in the same order. */
function needsOf(settings: ScriptSettings): Need[] {
  const records = { Drivers: recordsIn(settings.Drivers), Printers: recordsIn(settings.Printers) };
  return (Object.keys(needs) as Need[]).filter((name) => needs[name](records));
}

function recordsIn(value: ScriptSettings[string] | undefined): readonly ScriptSettings[] {
  return Array.isArray(value) ? (value as ScriptSettings[]) : [];
}

function isForLogon(printer: ScriptSettings): boolean {
  const { SetDefault, ResetUserPreferences } = printer;
  return isSet(SetDefault) || isSet(ResetUserPreferences) || replacesAny("\\\\")(printer);
}

function isDriverAlone({ DriverNames }: ScriptSettings): boolean {
  return DriverNames !== undefined;
}

function isSet(value: PowerShellValue | undefined): boolean {
  return isChosen(value) && value !== false;
}

/** For settings in which `false` is a choice too. */
function isChosen(value: PowerShellValue | undefined): boolean {
  return value !== undefined && value !== null && value !== "";
}

function replacesAny(beginning: string): (printer: ScriptSettings) => boolean {
  return ({ Replaces }) =>
    Array.isArray(Replaces) && Replaces.some((old) => String(old).startsWith(beginning));
}
