import type { Driver, DriverSummary } from "../drivers/driver.ts";
import { UserError } from "../errors.ts";
import { effectiveDescription, isDriverOnly, type Printer, type PrinterSettings } from "./printer.ts";

export const preferencesLimitBytes = 1024 * 1024;

/** A file with the preferences of a vendor's driver, as printui wrote it. */
export interface Preferences {
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** UTC, milliseconds since 1970. */
  readonly uploaded_at: number;
  /** CRC-32 of the file, which packages need. */
  readonly crc32: number;
  /** The printer's driver and model at the upload. The file suits no other. */
  readonly driver_sha256: string;
  readonly driver_desc: string;
}

/**
 * A command for Windows PowerShell 5.1 that saves the preferences of a queue that the user chooses in a list. It contains
 * no printer name, so users can paste it unchanged. printui cannot take a name with quotes.
 */
export const preferencesCommand =
  "Get-Printer | Out-GridView -Title 'Choose the printer with the preferences' -OutputMode Single | ForEach-Object { " +
  '$f = "$env:TEMP\\preferences.dat"; if (Test-Path -LiteralPath $f) { Remove-Item -LiteralPath $f }; ' +
  "if ($_.Name.Contains('\"')) { 'Rename the queue first: its name has quotes.' } else { " +
  "Start-Process rundll32.exe -Wait -ArgumentList " +
  '(\'printui.dll,PrintUIEntry /Ss /n "{0}" /a "{1}" d g\' -f $_.Name, $f); (Get-Item -LiteralPath $f).FullName } }';

export function preferencesTooLarge(): UserError {
  return new UserError("too-large", "The preferences file is too large. The limit is 1 MB.");
}

type WithQueue = Pick<PrinterSettings, "address" | "port_name" | "protocol">;

/** Whether a printer can have vendor preferences: it has a queue, which is not Windows' own for IPP. */
export function takesPreferences(printer: WithQueue): boolean {
  return !isDriverOnly(printer) && printer.protocol !== "ipp";
}

/** The digest of the preferences that the printer's scripts restore. Empty if they restore none. */
export function usedPreferences(printer: Printer): string {
  return takesPreferences(printer) ? printer.preferences_sha256 : "";
}

/** The driver for which preferences are saved. @throws UserError "invalid" if the printer cannot have any */
export function preferencesDriver(
  printer: WithQueue & Pick<Printer, "driver_desc">,
  driver: Pick<Driver, "sha256" | "driver_desc"> | undefined,
): Pick<Preferences, "driver_sha256" | "driver_desc"> {
  if (!takesPreferences(printer)) {
    const why = printer.protocol === "ipp" ? "uses the IPP driver" : "has no queue";
    throw new UserError("invalid", `This printer ${why}. It cannot have vendor preferences.`);
  }
  if (driver === undefined) {
    throw new UserError("invalid", "Preferences belong to a driver. Choose the printer’s driver first.");
  }
  return { driver_sha256: driver.sha256, driver_desc: effectiveDescription(printer, driver) };
}

/** Whether preferences were saved with another driver or model than the printer has now. */
export function isOfOtherDriver(
  { driver_sha256, driver_desc }: Pick<Preferences, "driver_sha256" | "driver_desc">,
  printer: Pick<Printer, "driver_desc">,
  driver: Pick<DriverSummary, "sha256" | "driver_desc">,
): boolean {
  return driver_sha256 !== driver.sha256 || driver_desc !== effectiveDescription(printer, driver);
}

const signatures: readonly (readonly [beginning: string, what: string])[] = [
  ["PK\x03\x04", "a ZIP archive"],
  ["PK\x05\x06", "a ZIP archive"],
  ["MSCF", "a cabinet file"],
  ["7z\xbc\xaf\x27\x1c", "a 7-Zip archive"],
  ["\x89PNG", "a PNG picture"],
  ["\xff\xd8\xff", "a JPEG picture"],
  ["%PDF", "a PDF document"],
  ["MZ", "a program"],
];

/** What printui writes is opaque, so only files that are clearly something else are refused. @throws UserError "invalid" */
export function checkPreferences(bytes: Buffer): void {
  if (bytes.length === 0) throw new UserError("invalid", "The preferences file is empty. Save it again.");
  const start = bytes.toString("latin1", 0, 8);
  const what = signatures.find(([beginning]) => start.startsWith(beginning))?.[1] ?? textKind(bytes);
  if (what === undefined) return;
  throw new UserError("invalid", `This file is ${what}, not preferences. Save them with the command above.`);
}

/** For a text without control characters, or one that begins with a byte order mark. */
function textKind(bytes: Buffer): string | undefined {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  if (!isUtf16 && /[\0-\x08\x0e-\x1f]/.test(bytes.toString("latin1"))) return undefined;
  const text = bytes.toString(isUtf16 ? "utf16le" : "utf8", 0, 64 * 1024);
  return text.toLowerCase().includes("[version]") ? "an INF file" : "a text file";
}
