import { chosenInf, type DriverSummary } from "../../domain/drivers/driver.ts";
import { hasModel } from "../../domain/drivers/models.ts";
import { ippProblem } from "../../domain/drivers/windows-drivers.ts";
import type { FieldMessages } from "../../domain/errors.ts";
import { arm64Problem } from "../../domain/printers/printer-drivers.ts";
import type { PrinterReferences } from "../../domain/printers/printer-fields.ts";
import type { Drivers } from "../drivers/drivers.ts";
import type { Clients } from "./clients.ts";

interface Records {
  readonly clients: Pick<Clients, "find">;
  readonly drivers: Pick<Drivers, "find" | "findSummary">;
}

/** Problems with the records that a printer refers to, by field. */
export function referenceProblems({ clients, drivers }: Records, printer: PrinterReferences): FieldMessages {
  const { client_id, driver_id, driver_desc, protocol } = printer;
  const problems: Record<string, string> = {};
  if (client_id !== null && clients.find(client_id) === undefined) {
    problems.client_id = `Client ${client_id} does not exist.`;
  }
  const driver = driver_id === null ? undefined : drivers.findSummary(driver_id);
  if (driver_id !== null && driver === undefined) problems.driver_id = `Driver ${driver_id} does not exist.`;
  if (driver !== undefined)
    Object.assign(problems, modelProblem(drivers, driver, ["driver_desc", driver_desc, "The driver"]));
  const others = { ...arm64Problems(drivers, printer), ...problems };
  if (protocol === undefined || driver === undefined) return others;
  return { ...ippProblem(protocol, driver), ...others };
}

function modelProblem(
  drivers: Records["drivers"],
  { id, driver_desc }: DriverSummary,
  [field, model, what]: readonly [field: string, model: string, what: string],
): FieldMessages {
  if (model === "" || model === driver_desc) return {};
  const driver = drivers.find(id);
  if (driver === undefined || hasModel(chosenInf(driver), model)) return {};
  return { [field]: `${what} does not contain the model “${model}”. Choose one from the list.` };
}

/** Problems with the driver for ARM64. */
function arm64Problems(drivers: Records["drivers"], printer: PrinterReferences): FieldMessages {
  const { protocol, arm64_driver_id = null, arm64_driver_desc = "" } = printer;
  if (arm64_driver_id === null) {
    const problem = `Choose the driver for ARM64 that has the model “${arm64_driver_desc}”, or leave the model empty.`;
    return arm64_driver_desc === "" ? {} : { arm64_driver_id: problem };
  }
  const driver = drivers.findSummary(arm64_driver_id);
  if (driver === undefined)
    return { arm64_driver_id: `Driver ${arm64_driver_id} for ARM64 does not exist. Choose another.` };
  const problem = arm64Problem(driver, protocol);
  if (problem !== undefined) return { arm64_driver_id: problem };
  return modelProblem(drivers, driver, ["arm64_driver_desc", arm64_driver_desc, "The driver for ARM64"]);
}
