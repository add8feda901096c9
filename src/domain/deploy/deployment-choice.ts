import type { DriverSummary } from "../drivers/driver.ts";
import { isWindowsOwn } from "../drivers/windows-drivers.ts";
import { driversOf } from "../printers/arm64-driver.ts";
import type { Finding, FindingKind } from "../printers/findings.ts";
import type { ListedPrinter, Stated, StatedPrinter } from "../printers/listings.ts";
import { effectiveDescription, isDriverOnly, type Printer } from "../printers/printer.ts";

/** A printer that does not go into a package of several, and why. */
export interface LeftOut {
  readonly row: StatedPrinter;
  readonly reason: Pick<Finding, "kind" | "text" | "isArm64">;
}

/** What goes into a package of several printers, and what does not. Both are in the order of the printers. */
export interface DeploymentChoice {
  readonly goesIn: readonly StatedPrinter[];
  readonly leftOut: readonly LeftOut[];
}

const refusedKinds: readonly FindingKind[] = ["no-driver", "archive", "incomplete"];

/** Why no package can be made of it; undefined where one can. */
export function refusalOf({ findings }: Stated): Finding | undefined {
  return findings.find(({ kind }) => refusedKinds.includes(kind));
}

/** Why a package that can be made of it is known to fail on Windows; undefined where it is not. */
export function failureOf({ findings }: Stated): Finding | undefined {
  return findings.find(({ kind, state }) => state === "blocked" && !refusedKinds.includes(kind));
}

/**
 * Chooses what goes into one package of these printers. A printer that fails would make the whole package fail, again
 * and again, so what is known to fail stays out; of two queues of one name, which no PC can have, the older goes in.
 * @param withFailing take what is known to fail all the same
 */
export function chooseDeployment(rows: readonly StatedPrinter[], withFailing = false): DeploymentChoice {
  const leftOut = new Map<StatedPrinter, LeftOut["reason"]>();
  const names = new Map<string, StatedPrinter>();
  for (const row of rows.toSorted((a, b) => a.printer.id - b.printer.id)) {
    const reason = refusalOf(row) ?? (withFailing ? undefined : failureOf(row)) ?? sameNameReason(row, names);
    if (reason !== undefined) leftOut.set(row, reason);
    else if (!isDriverOnly(row.printer)) names.set(nameKey(row), row);
  }
  return {
    goesIn: rows.filter((row) => !leftOut.has(row)),
    leftOut: rows.flatMap((row) => {
      const reason = leftOut.get(row);
      return reason === undefined ? [] : [{ row, reason }];
    }),
  };
}

/** Why a printer stays out whose queue has the name of an older one; one without a queue never does. */
function sameNameReason(
  row: ListedPrinter,
  names: ReadonlyMap<string, ListedPrinter>,
): LeftOut["reason"] | undefined {
  const older = isDriverOnly(row.printer) ? undefined : names.get(nameKey(row));
  if (older === undefined) return undefined;
  const { name, address, port_name } = older.printer;
  const text = `A PC can have only one queue of this name: “${name}” at ${address || port_name} goes in.`;
  return { kind: "same-name", text };
}

function nameKey({ printer }: ListedPrinter): string {
  return printer.name.toLowerCase();
}

interface Row {
  readonly printer: Pick<Printer, "id" | "driver_desc">;
  readonly driver: DriverSummary | undefined;
  readonly arm64Driver: DriverSummary | undefined;
}

/**
 * Where two printers or more have one driver that was uploaded, and no other: each of them with that driver. Deployed together
 * the driver is better an app of its own, on which theirs depend.
 * @param rows what is deployed of one client
 * @returns the driver's id by the printer's
 */
export function sharedDrivers(rows: readonly Row[]): ReadonlyMap<number, number> {
  const alone = rows.flatMap(({ printer, driver, arm64Driver }) => {
    if (driver === undefined || driversOf({ driver, arm64Driver }).length > 1) return [];
    const model = effectiveDescription(printer, driver);
    const canBeApart = !isWindowsOwn(driver) && !driver.listed?.lostModels.includes(model);
    return canBeApart ? [{ printer: printer.id, driver: driver.id }] : [];
  });
  const counts = new Map<number, number>();
  for (const { driver } of alone) counts.set(driver, (counts.get(driver) ?? 0) + 1);
  const shared = alone.filter(({ driver }) => (counts.get(driver) ?? 0) > 1);
  return new Map(shared.map(({ printer, driver }) => [printer, driver]));
}
