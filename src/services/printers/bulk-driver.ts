import { chosenInf, type Driver, type DriverSummary, driverTitle } from "../../domain/drivers/driver.ts";
import { hasModel, needsModelChoice } from "../../domain/drivers/models.ts";
import { nearestInWords } from "../../domain/drivers/nearest-models.ts";
import { ippProblem } from "../../domain/drivers/windows-drivers.ts";
import { throwIfAny } from "../../domain/fields.ts";
import type { BulkChange, ModelChangeCounts } from "../../domain/printers/bulk.ts";
import type { PrinterWithModels } from "../../domain/printers/listings.ts";
import { driverDescFor, modelMatcher } from "../../domain/printers/move-plan.ts";
import { firstOf } from "../../domain/text.ts";
import type { Store } from "../../store/store.ts";

/**
 * Changes the driver and models of these printers: all of them or none.
 * @throws UserError "invalid" if a printer or the driver does not exist, the driver does not have the model or the
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
    const before = deployedModelOf(store.drivers.summaries());
    const descOf = driver ? newDescOf(driver, wanted, before) : () => "";
    const printers = store.printers.modelsOf(ids);
    checkProtocols(driver, printers);
    const changes = printers.map((printer) => ({ printer, before: before(printer), desc: descOf(printer) }));
    const unmatched = changes.filter(({ desc }) => desc === undefined).map(({ printer }) => printer);
    if (driver !== undefined && unmatched.length > 0)
      throwIfAny({ driver_desc: chooseModelMessage(driver, unmatched) });
    const changed = changes.filter(
      ({ printer, desc }) => printer.driver_id !== driver_id || printer.driver_desc !== desc,
    );
    const models = new Map(changed.map(({ printer, desc = "" }) => [printer.id, desc]));
    store.manyPrinters.useDriver(driver_id, models);
    return countsOf(changes, driver?.driver_desc ?? "");
  });
}

type DriverChange = Extract<BulkChange, { readonly action: "driver" }>;

/** The model that a printer deploys. Empty if none is chosen. */
type ModelOf = (printer: PrinterWithModels) => string;

function deployedModelOf(drivers: readonly DriverSummary[]): ModelOf {
  const driverModels = new Map(drivers.map(({ id, driver_desc }) => [id, driver_desc]));
  return ({ driver_id, driver_desc }) => driver_desc || (driverModels.get(driver_id ?? 0) ?? "");
}

/** `before`: the model that a printer deployed. `desc`: its new `driver_desc`, undefined if the user has to choose. */
interface ModelChange {
  readonly before: string;
  readonly desc: string | undefined;
}

function countsOf(changes: readonly ModelChange[], driverModel: string): ModelChangeCounts {
  const counts = { kept: 0, changed: 0, own: 0 };
  for (const { before, desc = "" } of changes) {
    if (desc === "") counts.own++;
    const after = desc || driverModel;
    if (before !== "" && after !== "") counts[before === after ? "kept" : "changed"]++;
  }
  return counts;
}

function checkModel(driver: Driver | undefined, model: string): void {
  if (model === "") return;
  if (driver === undefined) throwIfAny({ driver_desc: "Without a driver there is no model." });
  else if (model !== driver.driver_desc && !hasModel(chosenInf(driver), model)) {
    const nearest = nearestInWords(chosenInf(driver)?.descriptions ?? [], model);
    throwIfAny({ driver_desc: `The driver has no model “${model}”.${nearest}` });
  }
}

/** @returns a printer's new `driver_desc`; undefined if the user has to choose */
function newDescOf(
  driver: Driver,
  { driver_desc, only_unmatched }: DriverChange,
  deployed: ModelOf,
): (printer: PrinterWithModels) => string | undefined {
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
export function checkProtocols(driver: Driver | undefined, printers: readonly PrinterWithModels[]): void {
  const isWrong = ({ protocol }: PrinterWithModels) =>
    driver ? Object.keys(ippProblem(protocol, driver)).length > 0 : protocol === "ipp";
  const unsupported = printers.filter(isWrong);
  if (unsupported.length === 0) return;
  const another = "choose another protocol on the pages of these printers";
  const why =
    driver?.origin === "ipp"
      ? `“${driverTitle(driver)}” prints only over IPP: choose the protocol IPP on the pages of these printers, or import a list with it`
      : driver
        ? `“${driverTitle(driver)}” does not print over IPP: ${another}`
        : `IPP comes with its own driver: ${another}`;
  throwIfAny({ driver_id: `${why}: ${namesOf(unsupported)}. Nothing was changed.` });
}

const maxNames = 3;

function namesOf(printers: readonly PrinterWithModels[]): string {
  const names = printers.map(({ name }) => `“${name}”`);
  return firstOf(names, maxNames);
}

function chooseModelMessage(driver: Driver, printers: readonly PrinterWithModels[]): string {
  return `Which model is it? “${driverTitle(driver)}” does not have that of ${namesOf(printers)}, and nobody has chosen its own: choose one under “Install as”. Nothing was changed.`;
}
