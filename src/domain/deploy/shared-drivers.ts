import type { DriverSummary } from "../drivers/driver.ts";
import { isWindowsOwn } from "../drivers/windows-drivers.ts";
import { driversOf } from "../printers/arm64-driver.ts";
import { effectiveDescription, type Printer } from "../printers/printer.ts";

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
