import { type Architecture, type DriverSummary, driverTitle, shippedBy } from "../drivers/driver.ts";
import { effectiveDescription, type Printer } from "./printer.ts";

// A printer may have a second driver, which ARM64 machines install in place of the first.

/** The drivers of a printer. `arm64Driver` is undefined if all machines install `driver`. */
export interface PrinterDrivers<T> {
  readonly driver: T;
  readonly arm64Driver: T | undefined;
}

/** The distinct drivers of a printer. */
export function driversOf<T extends { readonly id: number }>({
  driver,
  arm64Driver,
}: PrinterDrivers<T>): T[] {
  return arm64Driver === undefined || arm64Driver.id === driver.id ? [driver] : [driver, arm64Driver];
}

/** The model of the second driver that ARM64 machines install. */
export function arm64Description(
  { arm64_driver_desc }: Pick<Printer, "arm64_driver_desc">,
  driver: Pick<DriverSummary, "driver_desc">,
): string {
  return effectiveDescription({ driver_desc: arm64_driver_desc }, driver);
}

export type ChosenModels = Pick<
  Printer,
  "driver_id" | "driver_desc" | "arm64_driver_id" | "arm64_driver_desc"
>;

/**
 * The models of a driver that are chosen for a printer, which may have it as its first driver, its second, or both. An
 * empty text means the driver's own model.
 */
export function modelsOf(driverId: number, printer: ChosenModels): string[] {
  const models: string[] = [];
  if (printer.driver_id === driverId) models.push(printer.driver_desc);
  if (printer.arm64_driver_id === driverId) models.push(printer.arm64_driver_desc);
  return models;
}

type Listed = Pick<DriverSummary, "listed">;

/** Whether a driver has program files for ARM64; undefined if no INF is chosen. */
export function shipsArm64({ listed }: Listed): boolean | undefined {
  return listed && shippedBy(listed).includes("arm64");
}

/** The architectures that can install a printer. */
export function architecturesOf({ driver, arm64Driver }: PrinterDrivers<Listed>): readonly Architecture[] {
  const architectures = shippedBy(driver.listed);
  if (arm64Driver === undefined) return architectures;
  const others = architectures.filter((name) => name !== "arm64");
  return shipsArm64(arm64Driver) ? [...others, "arm64"] : others;
}

/** Why a driver cannot be the driver for ARM64; undefined if it can. */
export function arm64Problem(
  driver: DriverSummary,
  protocol: Printer["protocol"] | undefined,
): string | undefined {
  if (protocol === "ipp") return "IPP requires no driver for ARM64. Leave this empty.";
  if (driver.origin === "ipp")
    return "The Microsoft IPP Class Driver works only with IPP. Choose another driver.";
  if (shipsArm64(driver) !== false) return undefined;
  return `“${driverTitle(driver)}” has no ARM64 files. Choose another driver.`;
}
