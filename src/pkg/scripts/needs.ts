import type { ScriptSettings } from "./deployment.ts";
import type { PowerShellValue } from "./powershell.ts";

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

export type Need = keyof typeof needs;

/** The drivers and printers of a settings block, as far as they are looked at here. */
interface Records {
  readonly Drivers: readonly ScriptSettings[];
  readonly Printers: readonly ScriptSettings[];
}

/** What the scripts of a deployment need, in one order. */
export function needsOf(settings: ScriptSettings): Need[] {
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
