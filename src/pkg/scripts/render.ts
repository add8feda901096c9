import { type Deployment, type ScriptSettings, scriptSettings } from "./deployment.ts";
import { packagedScripts, type ScriptKind, scriptKinds, scriptSources } from "./parts.ts";
import { asciiPowershell, type PowerShellValue, powershell } from "./powershell.ts";
import { aroundRegion, fileBytes, neededPieces, tabbed } from "./script-text.ts";

export { packagedScripts, type ScriptKind, scriptKinds };

/** What stands around the settings of a script, the same in all deployments of the same needs. */
export interface ScriptFrame {
  readonly before: Buffer;
  readonly after: Buffer;
}

/** A shop has a handful of kinds of printers; beyond so many, frames are made again. */
const maxFrames = 100;
const frames = new Map<string, ScriptFrame>();

/** The same object for the same needs, as long as it is remembered. */
export function frameOf(kind: ScriptKind, settings: ScriptSettings): ScriptFrame {
  const needed = needsOf(settings);
  const key = `${kind} ${needed.join()}`;
  const known = frames.get(key);
  if (known !== undefined) return known;
  const made = makeFrame(kind, needed);
  if (frames.size >= maxFrames) frames.clear();
  frames.set(key, made);
  return made;
}

function makeFrame(kind: ScriptKind, needed: readonly Need[]): ScriptFrame {
  const { body, parts } = scriptSources[kind];
  const isNeeded = (name: Need | ScriptKind) => name === kind || needed.some((need) => need === name);
  const pieces = (text: string) => neededPieces(text.replaceAll("\r\n", "\n"), isNeeded);
  const [start, end] = aroundRegion(pieces(body), "parts");
  const carried = parts.map((part) => pieces(part).trim()).filter((part) => part !== "");
  const whole = start + carried.join("\n\n") + end;
  const [before, after] = aroundRegion(kind === "install" ? withoutNotes(whole) : whole, "settings");
  return {
    before: fileBytes((isAscii(kind) ? "" : "\ufeff") + tabbed(before)),
    after: fileBytes(tabbed(after)),
  };
}

function isAscii(kind: ScriptKind): boolean {
  return kind !== "install" && kind !== "uninstall";
}

/**
 * Intune takes 50 KB of an installing script. Comments inside functions and ends of regions are for who works on the
 * parts; what an administrator needs stands in the help on top and at the margin.
 */
function withoutNotes(text: string): string {
  return text
    .replace(/^(?: +#.*|#endregion\n)\n/gm, "")
    .replace(/^#region /gm, "# ")
    .replace(/\n{3,}/g, "\n\n");
}

/**
 * A deployment's script as a file: its body with the settings and its parts in their places. Install and uninstall are
 * UTF-8 with a byte order mark, which Windows PowerShell needs to see; the others are ASCII, because Intune may
 * store them in another encoding. Lines end with CRLF.
 */
export function renderScript(kind: ScriptKind, deployment: Deployment): Buffer {
  return renderSettings(kind, scriptSettings(deployment));
}

/** The same of settings that were made already. */
export function renderSettings(kind: ScriptKind, settings: ScriptSettings): Buffer {
  const { before, after } = frameOf(kind, settings);
  return Buffer.concat([before, settingsOf(kind, settings), after]);
}

/** The piece of a script between those of its frame. */
export function settingsOf(kind: ScriptKind, settings: ScriptSettings): Buffer {
  const tag = isAscii(kind) ? asciiPowershell : powershell;
  return fileBytes(tag`$Settings = ${usedBy(kind, settings)}`);
}

/** The settings that a script of a kind reads. */
function usedBy(kind: ScriptKind, settings: ScriptSettings): ScriptSettings {
  if (kind === "install") return settings;
  return kind === "requirement" ? placesIn(settings) : withoutTickets(settings);
}

/** What says whether a package is sent at all needs nothing else. */
function placesIn(settings: ScriptSettings): ScriptSettings {
  const named = ({ Id = null, Name = null, Subnets = [] }: ScriptSettings) => ({ Id, Name, Subnets });
  return { Printers: printersIn(settings).map(named) };
}

/** A PrintTicket may be large, and installing alone uses it. */
function withoutTickets(settings: ScriptSettings): ScriptSettings {
  const printers = printersIn(settings);
  if (printers.every(({ PrintTicket }) => !PrintTicket)) return settings;
  return { ...settings, Printers: printers.map((printer) => ({ ...printer, PrintTicket: "" })) };
}

function printersIn({ Printers }: ScriptSettings): readonly ScriptSettings[] {
  return Array.isArray(Printers) ? (Printers as ScriptSettings[]) : [];
}

/** What a script may have to do, beyond what each does: a deployment's scripts carry what it needs and no more. */
const needs = {
  /** A printer, with a queue or without. */
  printer: ({ Printers }) => !Printers.some(isDriverAlone),
  many: ({ Printers }) => Printers.length > 1,
  /** A driver by itself, under several names. */
  alone: ({ Printers }) => Printers.some(isDriverAlone),
  /** An uploaded driver that the script installs itself. */
  package: ({ Drivers }) => Drivers.some(({ Origin }) => Origin === "package"),
  /** A driver that Windows brings, by its name alone. */
  windows: ({ Drivers }) => Drivers.some(({ Origin }) => Origin === "windows"),
  /** An uploaded driver that another package installs. */
  apart: ({ Drivers }) => Drivers.some(({ Origin }) => Origin === "apart"),
  download: ({ Drivers }) => Drivers.some(({ Download }) => isSet(Download)),
  /** Only who installs a driver trusts its publisher. */
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
} satisfies Record<string, (records: Records) => boolean>;

type Need = keyof typeof needs;

/** The drivers and printers of a settings block, as far as they are looked at here. */
interface Records {
  readonly Drivers: readonly ScriptSettings[];
  readonly Printers: readonly ScriptSettings[];
}

/** What the scripts of a deployment need, in one order. */
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

/** Of settings in which false is a choice too. */
function isChosen(value: PowerShellValue | undefined): boolean {
  return value !== undefined && value !== null && value !== "";
}

function replacesAny(beginning: string): (printer: ScriptSettings) => boolean {
  return ({ Replaces }) =>
    Array.isArray(Replaces) && Replaces.some((old) => String(old).startsWith(beginning));
}
