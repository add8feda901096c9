import { createHash } from "node:crypto";
import { addTo, getOrAdd } from "../../domain/collections.ts";
import type { KeptChange } from "../../domain/deletion.ts";
import { chosenInf, type Driver } from "../../domain/drivers/driver.ts";
import {
  type AffectedPrinter,
  affectedPrinterMaker,
  type DriverEffects,
  needsConfirmation,
} from "../../domain/drivers/driver-effects.ts";
import { isFromForm, mergeDriverForm, parseDriver } from "../../domain/drivers/driver-fields.ts";
import { modelTest } from "../../domain/drivers/models.ts";
import type { FormInput } from "../../domain/fields.ts";
import type { Printer } from "../../domain/printers/printer.ts";
import { revisionsWith } from "../../pkg/scripts/revision.ts";
import type { Store } from "../../store/store.ts";
import { checkedChange } from "../checked-change.ts";
import type { PackageBuilder } from "../deploy/packages.ts";
import { fileSelectionOf } from "../deploy/source-files.ts";

interface DriverServices {
  readonly store: Store;
  readonly packages: Pick<PackageBuilder, "prepare">;
  readonly undo: { keep<T>(change: Promise<T>): Promise<T> };
}

/** The result of a driver's form. If it is not saved, a person must confirm `effects` first. */
export interface DriverSave {
  readonly isSaved: boolean;
  readonly undo: KeptChange;
  /** The saved values of fields that only another user changed since the form was opened. */
  readonly kept: FormInput;
  readonly effects: DriverEffects;
  /** Whether a person confirmed effects that differ from the present ones. */
  readonly isStale: boolean;
}

/**
 * Saves a driver's form. If the save has effects, one of our own forms must send `confirmed`, the digest of the effects.
 * Other clients need no confirmation.
 * @throws UserError "not-found", "invalid" with a message for each field, or "stale" if another user changed the
 *   same field since the form was opened
 */
export async function saveDriver(
  { store, packages, undo }: DriverServices,
  id: number,
  form: FormInput,
): Promise<DriverSave> {
  const change = checkedChange<Change>(store, (stopWith) => {
    const driver = store.drivers.get(id);
    const { values, kept } = mergeDriverForm(form, driver);
    const settings = parseDriver(values, driver);
    const after = { ...driver, ...settings };
    const effects = effectsOf(store, driver, after);
    const { confirmed = "" } = form;
    if (isFromForm(form) && needsConfirmation(effects) && confirmed !== effects.digest)
      stopWith({ driver, after, isSaved: false, undo: undefined, kept, effects, isStale: confirmed !== "" });
    const keptChange = store.drivers.set(id, settings);
    return { driver, after, isSaved: true, undo: keptChange, kept, effects, isStale: false };
  });
  const { driver, after, ...saved } = await undo.keep(change);
  const isPrepared = fileSelectionOf(after).onlyUsedBy === fileSelectionOf(driver).onlyUsedBy;
  if (saved.isSaved && !isPrepared) packages.prepare(driver);
  return saved;
}

interface Change extends DriverSave {
  readonly driver: Driver;
  readonly after: Driver;
}

function effectsOf(store: Store, driver: Driver, after: Driver): DriverEffects {
  const [isLostBefore, isLost] = [missingModelTest(driver), missingModelTest(after)];
  const isNowLost = ({ before, now }: DeployedModel) => isLost(now) && !isLostBefore(before);
  const affected = affectedPrinterMaker(store.clients.names());
  const redeployed: AffectedPrinter[] = [];
  const switched: AffectedPrinter[] = [];
  const [lost, lostOnArm64] = [new Map<string, AffectedPrinter[]>(), new Map<string, AffectedPrinter[]>()];
  const hash = createHash("sha256");
  const [revisionBefore, revisionAfter] = [revisionMaker(store, driver), revisionMaker(store, after)];
  for (const printer of store.printers.withSettingsOfDriver(driver.id)) {
    const revision = revisionAfter(printer);
    if (revision === revisionBefore(printer)) continue;
    redeployed.push(affected(printer));
    hash.update(`${printer.id} ${revision}\n`);
    const models = modelsOf(printer, driver, after);
    if (models.some(({ before, now }) => before !== now)) switched.push(affected(printer));
    for (const { now, isArm64 } of models.filter(isNowLost))
      addTo(isArm64 ? lostOnArm64 : lost, now, affected(printer));
  }
  const isRefused = isLost(after.driver_desc) && after.driver_desc !== driver.driver_desc;
  const refusedModel = isRefused ? after.driver_desc : undefined;
  hash.update(JSON.stringify([refusedModel, [...lost.keys()], [...lostOnArm64.keys()]]));
  return {
    redeployed,
    switched: { from: driver.driver_desc, to: after.driver_desc, printers: switched },
    lost,
    lostOnArm64,
    refusedModel,
    digest: hash.digest("hex").slice(0, 16),
  };
}

/** Makes a function that calculates a printer's revision with the changed driver instead of the saved one. */
function revisionMaker({ drivers }: Store, changed: Driver): (printer: Printer) => string {
  const driverOf = (id: number | null) => (id === changed.id ? changed : drivers.find(id ?? 0));
  const makers = new Map<string, (printer: Printer) => string>();
  return (printer) => {
    const { driver_id, arm64_driver_id } = printer;
    const make = getOrAdd(makers, `${driver_id} ${arm64_driver_id}`, () => {
      const driver = driverOf(driver_id);
      // A printer without a driver deploys nothing.
      return driver === undefined ? () => "" : revisionsWith(driver, driverOf(arm64_driver_id));
    });
    return make(printer);
  };
}

interface DeployedModel {
  readonly before: string;
  readonly now: string;
  readonly isArm64: boolean;
}

/** The models that a printer deploys from a driver: one as its main driver, one as its ARM64 driver, or both. */
function modelsOf(printer: Printer, before: Driver, after: Driver): DeployedModel[] {
  const choices = [
    { id: printer.driver_id, own: printer.driver_desc, isArm64: false },
    { id: printer.arm64_driver_id, own: printer.arm64_driver_desc, isArm64: true },
  ];
  return choices
    .filter(({ id }) => id === before.id)
    .map(({ own, isArm64 }) => {
      return { before: own || before.driver_desc, now: own || after.driver_desc, isArm64 };
    });
}

/** Makes a test whether the driver's INF names models but not this one. */
function missingModelTest(driver: Driver): (model: string) => boolean {
  const has = modelTest(chosenInf(driver));
  return (model) => model !== "" && !has(model);
}
