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
  const { before, after } = templateOf(kind, settings);
  return Buffer.concat([before, settingsBlock(kind, settings), after]);
}

/** The text before and after a script's settings. It is the same for all deployments with the same needs. */
export interface ScriptTemplate {
  readonly before: Buffer;
  readonly after: Buffer;
}

/** The maximum number of templates in memory. An installation needs only a few. */
const maxTemplates = 100;
const templates = new Map<string, ScriptTemplate>();

/** Returns the same object for the same kind and needs, as long as it is in memory. */
export function templateOf(kind: ScriptKind, settings: ScriptSettings): ScriptTemplate {
  const needed = needsOf(settings);
  const key = `${kind} ${needed.join()}`;
  const known = templates.get(key);
  if (known !== undefined) return known;
  const made = makeTemplate(kind, needed);
  if (templates.size >= maxTemplates) templates.clear();
  templates.set(key, made);
  return made;
}

function makeTemplate(kind: ScriptKind, needed: readonly Need[]): ScriptTemplate {
  const { body, parts } = scriptSources[kind];
  const isNeeded = (name: Need | ScriptKind) => name === kind || needed.some((need) => need === name);
  const pieces = (text: string) => neededPieces(text.replaceAll("\r\n", "\n"), isNeeded);
  const [start, end] = aroundRegion(pieces(body), "parts");
  const kept = parts.map((part) => pieces(part).trim()).filter((part) => part !== "");
  const whole = start + kept.join("\n\n") + end;
  const [before, after] = aroundRegion(kind === "install" ? withoutComments(whole) : whole, "settings");
  return {
    before: fileBytes((isAscii(kind) ? "" : "\ufeff") + tabbed(before)),
    after: fileBytes(tabbed(after)),
  };
}

function isAscii(kind: ScriptKind): boolean {
  return kind !== "install" && kind !== "uninstall";
}

/**
 * Removes indented comments and `#endregion` lines, because Intune accepts 50 KB of an install script. The help at the
 * top and the comments at the margin stay: they are for administrators.
 */
function withoutComments(text: string): string {
  return text
    .replace(/^(?: +#.*|#endregion\n)\n/gm, "")
    .replace(/^#region /gm, "# ")
    .replace(/\n{3,}/g, "\n\n");
}

/** The settings block, which is put between the two pieces of a template. */
export function settingsBlock(kind: ScriptKind, settings: ScriptSettings): Buffer {
  const tag = isAscii(kind) ? asciiPowershell : powershell;
  return fileBytes(tag`$Settings = ${settingsUsedBy(kind, settings)}`);
}

function settingsUsedBy(kind: ScriptKind, settings: ScriptSettings): ScriptSettings {
  if (kind === "install") return settings;
  return kind === "requirement" ? requirementSettings(settings) : withoutPrintTickets(settings);
}

/** The requirement script reads only ids, names and subnets. */
function requirementSettings(settings: ScriptSettings): ScriptSettings {
  const named = ({ Id = null, Name = null, Subnets = [] }: ScriptSettings) => ({ Id, Name, Subnets });
  return { Printers: recordsIn(settings.Printers).map(named) };
}

/** A PrintTicket may be large, and only install uses it. */
function withoutPrintTickets(settings: ScriptSettings): ScriptSettings {
  const printers = recordsIn(settings.Printers);
  if (printers.every(({ PrintTicket }) => !PrintTicket)) return settings;
  return { ...settings, Printers: printers.map((printer) => ({ ...printer, PrintTicket: "" })) };
}

/** The conditions under which a script contains a part. The names are those in `#<if name>` lines. */
const needs = {
  /** A printer, with a queue or without. */
  printer: ({ Printers }) => !Printers.some(isDriverAlone),
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
  arm64: ({ Printers }) => Printers.some(({ Arm64DriverKey }) => isSet(Arm64DriverKey)),
  queue: ({ Printers }) => Printers.some(({ HasQueue }) => isSet(HasQueue)),
  /** A queue on a TCP/IP or local port. */
  port: ({ Printers }) => Printers.some(({ HasQueue, IppUrl }) => isSet(HasQueue) && !isSet(IppUrl)),
  raw: ({ Printers }) => Printers.some(({ Protocol }) => Protocol === "raw"),
  lpr: ({ Printers }) => Printers.some(({ Protocol }) => Protocol === "lpr"),
  ipp: ({ Printers }) => Printers.some(({ IppUrl }) => isSet(IppUrl)),
  preferences: ({ Printers }) =>
    Printers.some(({ Duplex, Color, Collate, PaperSize }) =>
      [Duplex, Color, Collate, PaperSize].some(isChosen),
    ),
  ticket: ({ Printers }) => Printers.some(({ PrintTicket }) => isSet(PrintTicket)),
  reset: ({ Printers }) => Printers.some(({ ResetUserPreferences }) => isSet(ResetUserPreferences)),
  default: ({ Printers }) => Printers.some(({ SetDefault }) => isSet(SetDefault)),
  connections: ({ Printers }) => Printers.some(replacesAny("\\\\")),
  addresses: ({ Printers }) => Printers.some(replacesAny("address:")),
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
