import { arm64Description } from "../domain/arm64-driver.ts";
import { type Driver, driverNeeds } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import type { Finding } from "../domain/findings.ts";
import type { PrinterDetails, PrinterOwner } from "../domain/listings.ts";
import { type Printer, printerNeeds } from "../domain/printer.ts";
import type { Remedy } from "../domain/remedy.ts";
import type { Deployable } from "../pkg/scripts/deployment.ts";
import type { Store } from "../store/store.ts";

/**
 * A printer with drivers that can be deployed.
 * @param known drivers that were read before: their records are large
 * @throws UserError "invalid" that says what is missing, and where it is chosen
 */
export function deployableOf(
  store: Store,
  { printer, client }: PrinterDetails,
  known = new Map<number, Driver>(),
): Deployable {
  const { driver, arm64Driver } = driversOfPrinter(store, printer, known);
  if (driver === undefined) {
    const message = `“${printer.name}” has no driver: choose one on the printer’s page.`;
    throw refusal(message, { kind: "no-driver" }, { printer });
  }
  const needs = printerNeeds(printer, driver);
  if (needs !== undefined) throw refusal(needs, { kind: "incomplete" }, { printer, driver });
  const deployable = { printer, driver, arm64Driver, client };
  if (arm64Driver === undefined) return deployable;
  const model = arm64Description(printer, arm64Driver);
  const arm64Needs = driverNeeds({ ...arm64Driver, driver_desc: model }, "The driver for ARM64");
  if (arm64Needs === undefined) return deployable;
  throw refusal(arm64Needs, { kind: "incomplete", isArm64: true }, { printer, driver, arm64Driver });
}

/** The same of several. */
export function deployablesOf(store: Store, printers: readonly Printer[]): Deployable[] {
  const drivers = new Map<number, Driver>();
  const clients = new Map<number | null, PrinterOwner | undefined>();
  return printers.map((printer) => {
    const { client_id } = printer;
    if (client_id !== null && !clients.has(client_id)) clients.set(client_id, store.clients.find(client_id));
    return deployableOf(store, { printer, client: clients.get(client_id) }, drivers);
  });
}

/** The drivers that a printer refers to. @param known drivers that were read before; they are added to */
export function driversOfPrinter(
  { drivers }: Store,
  { driver_id, arm64_driver_id }: Pick<Printer, "driver_id" | "arm64_driver_id">,
  known = new Map<number, Driver>(),
): { readonly driver: Driver | undefined; readonly arm64Driver: Driver | undefined } {
  const driverOf = (id: number | null) => {
    if (id === null) return undefined;
    const driver = known.get(id) ?? drivers.get(id);
    known.set(id, driver);
    return driver;
  };
  return { driver: driverOf(driver_id), arm64Driver: driverOf(arm64_driver_id) };
}

interface Refused {
  readonly printer: Printer;
  readonly driver?: Driver;
  readonly arm64Driver?: Driver;
}

function refusal(message: string, finding: Pick<Finding, "kind" | "isArm64">, refused: Refused): UserError {
  const row = { driver: undefined, arm64Driver: undefined, ...refused };
  const remedy: Remedy = { kind: "printer", finding, row, isNamed: false };
  return new UserError("invalid", message, {}, { remedies: [remedy] });
}
