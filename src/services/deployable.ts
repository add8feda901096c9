import type { Driver } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import type { FindingKind } from "../domain/findings.ts";
import type { PrinterDetails } from "../domain/listings.ts";
import { type Printer, printerNeeds } from "../domain/printer.ts";
import type { Remedy } from "../domain/remedy.ts";
import type { Deployable } from "../pkg/scripts/deployment.ts";
import type { Store } from "../store/store.ts";

/**
 * A printer with a driver that can be deployed.
 * @param known drivers that were read before: their records are large
 * @throws UserError "invalid" that says what is missing, and where it is chosen
 */
export function deployableOf(
  store: Store,
  { printer }: Pick<PrinterDetails, "printer">,
  known = new Map<number, Driver>(),
): Deployable {
  if (printer.driver_id === null) {
    const message = `“${printer.name}” has no driver: choose one on the printer’s page.`;
    throw new UserError("invalid", message, {}, { remedies: [remedyOf("no-driver", { printer })] });
  }
  const driver = known.get(printer.driver_id) ?? store.drivers.get(printer.driver_id);
  known.set(driver.id, driver);
  const needs = printerNeeds(printer, driver);
  if (needs !== undefined)
    throw new UserError("invalid", needs, {}, { remedies: [remedyOf("incomplete", { printer, driver })] });
  return { printer, driver };
}

function remedyOf(
  finding: FindingKind,
  row: { readonly printer: Printer; readonly driver?: Driver },
): Remedy {
  return { kind: "printer", finding, row: { driver: undefined, ...row }, isNamed: false };
}
