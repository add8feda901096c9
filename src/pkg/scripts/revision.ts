import { createHash } from "node:crypto";
import type { Driver, DriverSummary } from "../../domain/drivers/driver.ts";
import type { Printer } from "../../domain/printers/printer.ts";
import {
  type Deployable,
  modelOf,
  type PrinterWithDrivers,
  printerSettings,
  revisionFrom,
} from "./deployment.ts";
import { driverSettings } from "./driver-settings.ts";

/**
 * The first 12 hex digits of a SHA-256 over everything that the scripts use of a printer and its drivers. The driver's
 * folder in a package and the service's address are not part of it.
 */
export function revisionOf({ printer, driver, arm64Driver }: Deployable): string {
  return revisionsWith(driver, arm64Driver)(printer);
}

/** Computes revisions of many printers with the same drivers. It does not keep the drivers, whose reports may be large. */
export function revisionsWith(driver: Driver, arm64Driver: Driver | undefined): (printer: Printer) => string {
  const textOf = (used: Driver) => JSON.stringify(driverSettings(used));
  const [driverText, arm64Text] = [textOf(driver), arm64Driver && textOf(arm64Driver)];
  const models = { driver: modelOf(driver), arm64Driver: arm64Driver && modelOf(arm64Driver) };
  return (printer) =>
    revisionFrom(JSON.stringify(printerSettings({ printer, ...models })), driverText, arm64Text);
}

/**
 * The revision of a driver without a printer. The model names are not part of it, so that a machine does not reinstall
 * the driver when printers stop using one of them.
 */
export function revisionOfDriver(driver: Driver): string {
  return revisionFrom('"driver"', JSON.stringify(driverSettings(driver)), undefined);
}

/**
 * Identifies what several printers deploy, in 12 hex digits. It is not a revision: it does not depend on driver reports,
 * and detection scripts do not use it.
 */
export function printersDigest(printers: readonly PrinterWithDrivers<DriverSummary>[]): string {
  const hash = createHash("sha256");
  for (const each of printers) {
    const drivers = [each.driver, ...(each.arm64Driver ? [each.arm64Driver] : [])];
    const used = drivers.flatMap(({ sha256, inf_path, trust_publisher, exact_version }) => [
      sha256,
      inf_path,
      trust_publisher,
      ...(exact_version ? ["exact"] : []),
    ]);
    hash.update(JSON.stringify([each.printer.id, printerSettings(each), ...used]));
  }
  return hash.digest("hex").slice(0, 12);
}
