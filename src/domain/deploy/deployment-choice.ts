import type { DriverSummary } from "../drivers/driver.ts";
import { isWindowsDriver } from "../drivers/windows-drivers.ts";
import type { Finding, FindingKind } from "../printers/findings.ts";
import type { ListedPrinter, PrinterWithState, WithState } from "../printers/listings.ts";
import { effectiveDescription, isDriverOnly, type Printer } from "../printers/printer.ts";
import { driversOf, type PrinterDrivers } from "../printers/printer-drivers.ts";

export interface LeftOut {
  readonly row: PrinterWithState;
  readonly reason: Pick<Finding, "kind" | "text" | "isArm64">;
}

/** The printers that one package contains, and those that it leaves out. Both have the order of the list. */
export interface DeploymentChoice {
  readonly included: readonly PrinterWithState[];
  readonly leftOut: readonly LeftOut[];
}

const refusedKinds: readonly FindingKind[] = ["no-driver", "archive", "incomplete"];

/** The finding because of which no package can be made; undefined if one can. */
export function refusalOf({ findings }: WithState): Finding | undefined {
  return findings.find(({ kind }) => refusedKinds.includes(kind));
}

/** The finding because of which a package will fail on Windows; undefined if no failure is known. */
export function failureOf({ findings }: WithState): Finding | undefined {
  return findings.find(({ kind, state }) => state === "blocked" && !refusedKinds.includes(kind));
}

/**
 * Chooses the printers for one package. A printer that fails would make the whole package fail every time, so printers
 * that are known to fail are left out. A PC cannot have two queues with the same name: the printer with the lower id is
 * included.
 * @param withFailing also include printers that are known to fail
 */
export function chooseDeployment(rows: readonly PrinterWithState[], withFailing = false): DeploymentChoice {
  const leftOut = new Map<PrinterWithState, LeftOut["reason"]>();
  const names = new Map<string, PrinterWithState>();
  for (const row of rows.toSorted((a, b) => a.printer.id - b.printer.id)) {
    const reason = refusalOf(row) ?? (withFailing ? undefined : failureOf(row)) ?? sameNameReason(row, names);
    if (reason !== undefined) leftOut.set(row, reason);
    else if (!isDriverOnly(row.printer)) names.set(nameKey(row), row);
  }
  return {
    included: rows.filter((row) => !leftOut.has(row)),
    leftOut: rows.flatMap((row) => {
      const reason = leftOut.get(row);
      return reason === undefined ? [] : [{ row, reason }];
    }),
  };
}

/** The reason to leave out a printer whose queue has the same name as an older one; undefined if there is none. */
function sameNameReason(
  row: ListedPrinter,
  names: ReadonlyMap<string, ListedPrinter>,
): LeftOut["reason"] | undefined {
  const older = isDriverOnly(row.printer) ? undefined : names.get(nameKey(row));
  if (older === undefined) return undefined;
  const { name, address, port_name } = older.printer;
  const text = `Another printer with this name is in the package: “${name}” at ${address || port_name}.`;
  return { kind: "same-name", text };
}

function nameKey({ printer }: ListedPrinter): string {
  return printer.name.toLowerCase();
}

interface Row extends PrinterDrivers<DriverSummary | undefined> {
  readonly printer: Pick<Printer, "id" | "driver_desc">;
}

/**
 * Finds the printers whose only driver was uploaded and is also another printer's only driver. Such a driver is better
 * published as an app of its own, on which the printers' apps depend.
 * @param rows the deployable printers of one client
 * @returns ids of drivers by ids of printers
 */
export function sharedDrivers(rows: readonly Row[]): ReadonlyMap<number, number> {
  const separable = rows.flatMap(({ printer, driver, arm64Driver }) => {
    if (driver === undefined || driversOf({ driver, arm64Driver }).length > 1) return [];
    const model = effectiveDescription(printer, driver);
    const isSeparable = !isWindowsDriver(driver) && !driver.listed?.lostModels.includes(model);
    return isSeparable ? [{ printer: printer.id, driver: driver.id }] : [];
  });
  const counts = new Map<number, number>();
  for (const { driver } of separable) counts.set(driver, (counts.get(driver) ?? 0) + 1);
  const shared = separable.filter(({ driver }) => (counts.get(driver) ?? 0) > 1);
  return new Map(shared.map(({ printer, driver }) => [printer, driver]));
}
