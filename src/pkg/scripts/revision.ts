import { createHash } from "node:crypto";
import type { Driver, DriverSummary } from "../../domain/drivers/driver.ts";
import type { Printer } from "../../domain/printers/printer.ts";
import { type Deployable, type PrinterOf, printerSettings, revisionFrom } from "./deployment.ts";
import { driverSettings } from "./driver-settings.ts";

/**
 * The first 12 hex digits of a SHA-256 over everything that the scripts use of a printer. Where a package
 * puts the driver, or which service it comes from, makes no difference.
 */
export function revisionOf({ printer, driver, arm64Driver }: Deployable): string {
  return revisionsWith(driver, arm64Driver)(printer);
}

/** The same for many printers of the same drivers, which are looked at once and not kept: reports may be large. */
export function revisionsWith(driver: Driver, arm64Driver: Driver | undefined): (printer: Printer) => string {
  const texts = [driver, ...(arm64Driver ? [arm64Driver] : [])].map((each) =>
    JSON.stringify(driverSettings(each)),
  );
  const [driverText = "", arm64Text] = texts;
  const models = { driver: modelOf(driver), arm64Driver: arm64Driver && modelOf(arm64Driver) };
  return (printer) =>
    revisionFrom(JSON.stringify(printerSettings({ printer, ...models })), driverText, arm64Text);
}

/**
 * The revision of a driver by itself: whatever of it is installed, under as many names as printers use, so that no machine
 * installs anew what it has because one of them is used no more.
 */
export function revisionOfDriver(driver: Driver): string {
  return revisionFrom('"driver"', JSON.stringify(driverSettings(driver)), undefined);
}

function modelOf({ driver_desc }: Driver): Pick<Driver, "driver_desc"> {
  return { driver_desc };
}

/**
 * Tells what several printers deploy from what they deployed before, in 12 hex digits. It needs no driver's report, so
 * it is no revision: detection does not know it.
 */
export function labelOfMany(printers: readonly PrinterOf<DriverSummary>[]): string {
  const hash = createHash("sha256");
  for (const each of printers) {
    const drivers = [each.driver, ...(each.arm64Driver ? [each.arm64Driver] : [])];
    const used = drivers.flatMap(({ sha256, inf_path, trust_publisher }) => [
      sha256,
      inf_path,
      trust_publisher,
    ]);
    hash.update(JSON.stringify([each.printer.id, printerSettings(each), ...used]));
  }
  return hash.digest("hex").slice(0, 12);
}
