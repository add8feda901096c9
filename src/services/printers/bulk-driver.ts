import { chosenInf, type Driver, type DriverSummary, driverTitle } from "../../domain/drivers/driver.ts";
import { hasModel, needsModelChoice } from "../../domain/drivers/models.ts";
import { ippProblem } from "../../domain/drivers/windows-drivers.ts";
import { throwIfAny } from "../../domain/fields.ts";
import type { BulkChange, ModelChangeCounts } from "../../domain/printers/bulk.ts";
import type { PrinterModel } from "../../domain/printers/listings.ts";
import { driverDescFor, modelMatcher } from "../../domain/printers/move-plan.ts";
import { firstOf } from "../../domain/text.ts";
import type { Store } from "../../store/store.ts";

/**
 * Changes the driver and the models of all printers or of none.
 * @throws UserError "invalid" where a printer or the driver does not exist, the driver does not have the model or the
 *   protocol, or the user has to choose a model
 */
export function assignDriver(
  store: Store,
  ids: readonly number[],
  wanted: DriverChange,
): Promise<ModelChangeCounts> {
  const { driver_id, driver_desc } = wanted;
  return store.change(() => {
    store.manyPrinters.checkExist(ids);
    throwIfAny(store.printers.referenceProblems({ client_id: null, driver_id, driver_desc: "" }));
    const driver = driver_id === null ? undefined : store.drivers.get(driver_id);
    checkModel(driver, driver_desc);
    const before = deployedBy(store.drivers.summaries());
    const modelOf = driver ? modelsFrom(driver, wanted, before) : () => "";
    const printers = store.printers.modelsOf(ids);
    checkProtocols(driver, printers);
    const given = printers.map((printer) => ({ printer, before: before(printer), own: modelOf(printer) }));
    const unmatched = given.filter(({ own }) => own === undefined).map(({ printer }) => printer);
    if (driver !== undefined && unmatched.length > 0)
      throwIfAny({ driver_desc: chooseModelMessage(driver, unmatched) });
    const changed = given.filter(
      ({ printer, own }) => printer.driver_id !== driver_id || printer.driver_desc !== own,
    );
    const models = new Map(changed.map(({ printer, own = "" }) => [printer.id, own]));
    store.manyPrinters.useDriver(driver_id, models);
    return countsOf(given, driver?.driver_desc ?? "");
  });
}

type DriverChange = Extract<BulkChange, { readonly action: "driver" }>;

/** The model that a printer deploys; empty where none is chosen. */
type ModelOf = (printer: PrinterModel) => string;

function deployedBy(drivers: readonly DriverSummary[]): ModelOf {
  const owns = new Map(drivers.map(({ id, driver_desc }) => [id, driver_desc]));
  return ({ driver_id, driver_desc }) => driver_desc || (owns.get(driver_id ?? 0) ?? "");
}

/** `before`: the model that a printer deployed. `own`: its new `driver_desc`, undefined where the user has to choose. */
interface Given {
  readonly before: string;
  readonly own: string | undefined;
}

function countsOf(given: readonly Given[], driversOwn: string): ModelChangeCounts {
  const counts = { kept: 0, changed: 0, own: 0 };
  for (const { before, own = "" } of given) {
    if (own === "") counts.own++;
    const after = own || driversOwn;
    if (before !== "" && after !== "") counts[before === after ? "kept" : "changed"]++;
  }
  return counts;
}

function checkModel(driver: Driver | undefined, model: string): void {
  if (model === "") return;
  if (driver === undefined) throwIfAny({ driver_desc: "Without a driver there is no model." });
  else if (model !== driver.driver_desc && !hasModel(chosenInf(driver), model))
    throwIfAny({ driver_desc: `The driver has no model “${model}”.` });
}

/** @returns a printer's new `driver_desc`; undefined where the user has to choose */
function modelsFrom(
  driver: Driver,
  { driver_desc, only_unmatched }: DriverChange,
  deployed: ModelOf,
): (printer: PrinterModel) => string | undefined {
  if (driver_desc !== "" && !only_unmatched) return () => driver_desc;
  const match = modelMatcher(driver);
  const otherwise = driver_desc !== "" ? driver_desc : needsModelChoice(driver) ? undefined : "";
  return (printer) => {
    const before = printer.driver_desc;
    // A printer that already uses the driver's own model keeps it.
    if (before === "" && printer.driver_id === driver.id && driver_desc === "") return "";
    const found = match(deployed(printer));
    return found ? driverDescFor(driver, found, before) : otherwise;
  };
}

/**
 * @param driver undefined: no driver, which IPP does not allow
 * @throws UserError "invalid" with the first printers whose protocol the driver does not support
 */
export function checkProtocols(driver: Driver | undefined, printers: readonly PrinterModel[]): void {
  const isWrong = ({ protocol }: PrinterModel) =>
    driver ? Object.keys(ippProblem(protocol, driver)).length > 0 : protocol === "ipp";
  const others = printers.filter(isWrong);
  if (others.length === 0) return;
  const another = "choose another protocol on the pages of these printers";
  const why =
    driver?.origin === "ipp"
      ? `“${driverTitle(driver)}” prints over IPP alone: choose the protocol IPP on the pages of these printers, or import a list with it`
      : driver
        ? `“${driverTitle(driver)}” does not print over IPP: ${another}`
        : `IPP comes with its own driver: ${another}`;
  throwIfAny({ driver_id: `${why}: ${namesOf(others)}. Nothing was changed.` });
}

const maxNames = 3;

function namesOf(printers: readonly PrinterModel[]): string {
  const names = printers.map(({ name }) => `“${name}”`);
  return firstOf(names, maxNames);
}

function chooseModelMessage(driver: Driver, printers: readonly PrinterModel[]): string {
  return `Which model is it? “${driverTitle(driver)}” does not have that of ${namesOf(printers)}, and nobody has chosen its own: choose one under “Install as”. Nothing was changed.`;
}
