import { chosenInf, type Driver, deployProblem, driverTitle } from "../../domain/drivers/driver.ts";
import { modelSpelling, modelTest } from "../../domain/drivers/models.ts";
import { isWindowsDriver } from "../../domain/drivers/windows-drivers.ts";
import { UserError } from "../../domain/errors.ts";
import type { Store } from "../../store/store.ts";

/** The model names under which a driver-only package installs a driver. */
interface DeployedModels {
  /** Sorted. Empty if no model is chosen yet. */
  readonly models: readonly string[];
  /** Models that printers deploy although the INF lacks them. The package leaves them out, because it would fail. */
  readonly leftOut: readonly string[];
}

/** The models of a driver that printers deploy on any architecture. If none does, the driver's own model. */
export function deployedModels({ drivers }: Pick<Store, "drivers">, driver: Driver): DeployedModels {
  const inf = chosenInf(driver);
  const [has, spelling] = [modelTest(inf), modelSpelling(inf)];
  const own = spelling(driver.driver_desc);
  const deployed = new Set(drivers.chosenModels(driver.id).map((model) => spelling(model) || own));
  const used = [...deployed].filter((model) => model !== "").sort();
  const models = used.filter(has);
  if (models.length > 0) return { models, leftOut: used.filter((model) => !has(model)) };
  return { models: own === "" ? used : [own], leftOut: [] };
}

/** Why a driver cannot be deployed without a printer, with the remedy; undefined if it can. */
export function driverOnlyProblem(driver: Driver, [first = ""]: readonly string[]): string | undefined {
  if (isWindowsDriver(driver))
    return `“${driverTitle(driver)}” comes with Windows and has no package of its own. Its printers’ packages add it by name.`;
  return deployProblem({ inf_path: driver.inf_path, driver_desc: first });
}

/** @throws UserError "invalid" with the remedy if the driver cannot be deployed without a printer */
export function requireModels(store: Pick<Store, "drivers">, driver: Driver): [string, ...string[]] {
  const { models } = deployedModels(store, driver);
  const [first, ...others] = models;
  const problem = driverOnlyProblem(driver, models);
  if (problem !== undefined || first === undefined) throw new UserError("invalid", problem ?? "");
  return [first, ...others];
}
