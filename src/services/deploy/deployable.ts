import { type Driver, deployProblem } from "../../domain/drivers/driver.ts";
import { UserError } from "../../domain/errors.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { Finding } from "../../domain/printers/findings.ts";
import type { PrinterDetails } from "../../domain/printers/listings.ts";
import { type Printer, printerNeeds } from "../../domain/printers/printer.ts";
import { arm64Description } from "../../domain/printers/printer-drivers.ts";
import type { Deployable } from "../../pkg/scripts/deployment.ts";
import type { Store } from "../../store/store.ts";

/**
 * Finds a printer's drivers and checks that they can be deployed.
 * @param known drivers that were already read: their records are large
 * @throws UserError "invalid" that says what is missing, with the remedy
 */
export function deployableOf(
  store: Store,
  { printer, client }: PrinterDetails,
  known = new Map<number, Driver>(),
): Deployable {
  const { driver, arm64Driver } = driversOfPrinter(store, printer, known);
  const refusal = (message: string, finding: Pick<Finding, "kind" | "isArm64">) => {
    const row = { printer, driver, arm64Driver };
    const remedies = [{ kind: "printer", finding, row, isNamed: false } as const];
    return new UserError("invalid", message, {}, { remedies });
  };
  const missing = `“${printer.name}” has no driver: choose one on the printer’s page.`;
  if (driver === undefined) throw refusal(missing, { kind: "no-driver" });
  const needs = printerNeeds(printer, driver);
  if (needs !== undefined) throw refusal(needs, { kind: "incomplete" });
  const model = arm64Driver && arm64Description(printer, arm64Driver);
  const arm64Needs =
    arm64Driver && deployProblem({ ...arm64Driver, driver_desc: model ?? "" }, "The driver for ARM64");
  if (arm64Needs !== undefined) throw refusal(arm64Needs, { kind: "incomplete", isArm64: true });
  return { printer, driver, arm64Driver, client };
}

/** As `deployableOf`, for several printers. @throws UserError as `deployableOf` does */
export function deployablesOf(store: Store, printers: readonly Printer[]): Deployable[] {
  const drivers = new Map<number, Driver>();
  const clients = new Map<number | null, Client | undefined>([[null, undefined]]);
  return printers.map((printer) => {
    const { client_id } = printer;
    if (client_id !== null && !clients.has(client_id)) clients.set(client_id, store.clients.find(client_id));
    const client = clients.get(client_id);
    return deployableOf(store, { printer, client }, drivers);
  });
}

/** The drivers that a printer refers to. @param known drivers that were already read; others are added */
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
