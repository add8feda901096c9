import { createHash } from "node:crypto";
import { groupBy } from "../../domain/collections.ts";
import type { KeptChange } from "../../domain/deletion.ts";
import { chosenInf, type Driver, type DriverSummary, driverTitle } from "../../domain/drivers/driver.ts";
import { affectedPrinterMaker } from "../../domain/drivers/driver-effects.ts";
import { hasModel, needsModelChoice } from "../../domain/drivers/models.ts";
import { nearestInWords } from "../../domain/drivers/nearest-models.ts";
import { ippProblem } from "../../domain/drivers/windows-drivers.ts";
import { throwIfAny } from "../../domain/fields.ts";
import type { BulkChange } from "../../domain/printers/bulk.ts";
import type { PrinterChange } from "../../domain/printers/change-effects.ts";
import type { ClientName, PrinterWithModels } from "../../domain/printers/listings.ts";
import { type BulkPlan, driverDescFor, modelMatcher } from "../../domain/printers/move-plan.ts";
import { firstOf } from "../../domain/text.ts";
import type { Store } from "../../store/store.ts";
import { checkedChange } from "../checked-change.ts";

type Wanted = Exclude<BulkChange, { readonly action: "delete" }>;

/**
 * What a change of client or driver does to printers. Printers that have everything already are left out.
 * @throws UserError "invalid" if a printer, the client or the driver does not exist, the driver does not have the model or
 *   the protocol, or the user has to choose a model
 */
export function planBulk(store: Store, ids: readonly number[], wanted: Wanted): BulkPlan {
  store.manyPrinters.checkExist(ids);
  return wanted.action === "client"
    ? planClient(store, ids, wanted.client_id)
    : planDriver(store, ids, wanted);
}

/**
 * Changes all of these printers or none.
 * @param digest of the plan that the user saw; undefined if no plan was sent
 * @returns undefined if the plan is another one now. Nothing is changed then.
 * @throws UserError as `planBulk` does
 */
export function changeBulk(
  store: Store,
  ids: readonly number[],
  wanted: Wanted,
  digest: string | undefined,
): Promise<{ readonly count: number; readonly undo: KeptChange } | undefined> {
  return checkedChange(store, (stopWith) => {
    const plan = planBulk(store, ids, wanted);
    if (digest !== undefined && digest !== plan.digest) stopWith(undefined);
    const { manyPrinters } = store;
    const models = [...plan.changes].map(([id, { driver_desc = "" }]) => [id, driver_desc] as const);
    const changedIds = [...plan.changes.keys()];
    const undo = manyPrinters.keepEarlier(changedIds, () => {
      if (wanted.action === "client") manyPrinters.useClient(wanted.client_id, changedIds);
      else manyPrinters.useDriver(wanted.driver_id, new Map(models));
    });
    return { count: changedIds.length, undo };
  });
}

function planClient(store: Store, ids: readonly number[], client_id: number | null): BulkPlan {
  throwIfAny(store.printers.referenceProblems({ client_id, driver_id: null, driver_desc: "" }));
  const clients = store.clients.names();
  const nameOf = (id: number | null) => clients.find((client) => client.id === id)?.name ?? "";
  const moved = store.printers.modelsOf(ids).filter((printer) => printer.client_id !== client_id);
  const to = nameOf(client_id);
  const changes = moved.map((printer) => {
    return { printer, from: nameOf(printer.client_id), to, set: { client_id } };
  });
  return planOf(clients, changes, client_id);
}

function planDriver(store: Store, ids: readonly number[], wanted: DriverChange): BulkPlan {
  const { driver_id, driver_desc } = wanted;
  throwIfAny(store.printers.referenceProblems({ client_id: null, driver_id, driver_desc: "" }));
  const driver = driver_id === null ? undefined : store.drivers.get(driver_id);
  checkModel(driver, driver_desc);
  const drivers = store.drivers.summaries();
  const before = deployedModelOf(drivers);
  const descOf = driver ? newDescOf(driver, wanted, before) : () => "";
  const printers = store.printers.modelsOf(ids);
  checkProtocols(driver, printers);
  const models = printers.map((printer) => ({ printer, before: before(printer), desc: descOf(printer) }));
  const unmatched = models.filter(({ desc }) => desc === undefined).map(({ printer }) => printer);
  if (driver !== undefined && unmatched.length > 0)
    throwIfAny({
      driver_desc: `“${driverTitle(driver)}” does not contain the model of ${namesOf(unmatched)}. Choose a model. Nothing was changed.`,
    });
  const titles = new Map(drivers.map((one) => [one.id, driverTitle(one)]));
  const label = (id: number | null, model: string) =>
    [titles.get(id ?? 0) ?? "", model].filter((text) => text !== "").join(" · ");
  const changes = models
    .filter(({ printer, desc }) => printer.driver_id !== driver_id || printer.driver_desc !== desc)
    .map(({ printer, before: model, desc = "" }) => ({
      printer,
      from: label(printer.driver_id, model),
      to: label(driver_id, desc || (driver?.driver_desc ?? "")),
      set: { driver_id, driver_desc: desc },
    }));
  const target = driver && [driver.sha256, driver.inf_path, driver.driver_desc, needsModelChoice(driver)];
  return planOf(store.clients.names(), changes, target);
}

interface PlannedChange {
  readonly printer: PrinterWithModels;
  readonly from: string;
  readonly to: string;
  readonly set: PrinterChange;
}

/** @param target identifies the new client or driver as it is now */
function planOf(
  clients: readonly ClientName[],
  planned: readonly PlannedChange[],
  target: unknown,
): BulkPlan {
  const affected = affectedPrinterMaker(clients);
  const pairs = [...groupBy(planned, ({ from, to }) => JSON.stringify([from, to])).values()].flatMap(
    (group) => {
      const [first] = group;
      const printers = group.map(({ printer }) => affected(printer));
      return first === undefined ? [] : { from: first.from, to: first.to, printers };
    },
  );
  const changes = planned.map(({ printer, set }) => [printer.id, set] as const);
  const hash = createHash("sha256").update(JSON.stringify([target ?? null, changes, pairs]));
  return { pairs, changes: new Map(changes), digest: hash.digest("hex").slice(0, 16) };
}

type DriverChange = Extract<BulkChange, { readonly action: "driver" }>;

/** The model that a printer deploys. Empty if none is chosen. */
type ModelOf = (printer: PrinterWithModels) => string;

function deployedModelOf(drivers: readonly DriverSummary[]): ModelOf {
  const driverModels = new Map(drivers.map(({ id, driver_desc }) => [id, driver_desc]));
  return ({ driver_id, driver_desc }) => driver_desc || (driverModels.get(driver_id ?? 0) ?? "");
}

function checkModel(driver: Driver | undefined, model: string): void {
  if (model === "") return;
  if (driver === undefined) throwIfAny({ driver_desc: "Choose a driver, or clear the model." });
  else if (model !== driver.driver_desc && !hasModel(chosenInf(driver), model)) {
    const nearest = nearestInWords(chosenInf(driver)?.descriptions ?? [], model);
    throwIfAny({ driver_desc: `The driver does not contain the model “${model}”.${nearest}` });
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
  const another = "Choose another protocol for these printers first";
  const why =
    driver?.origin === "ipp"
      ? `“${driverTitle(driver)}” supports only IPP. Set the protocol of these printers to IPP first`
      : driver
        ? `“${driverTitle(driver)}” does not support IPP. ${another}`
        : `IPP requires the Microsoft IPP Class Driver. ${another}`;
  throwIfAny({ driver_id: `${why}: ${namesOf(unsupported)}. Nothing was changed.` });
}

const maxNames = 3;

function namesOf(printers: readonly PrinterWithModels[]): string {
  const names = printers.map(({ name }) => `“${name}”`);
  return firstOf(names, maxNames);
}
