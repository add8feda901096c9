import { createHash } from "node:crypto";
import { arm64Description } from "../domain/arm64-driver.ts";
import { chosenInf, type Driver, type DriverSettings } from "../domain/driver.ts";
import {
  type AffectedPrinter,
  affectedAmong,
  type DriverEffects,
  hasEffects,
} from "../domain/driver-effects.ts";
import { driverFormValues, isFromForm, parseDriver } from "../domain/driver-fields.ts";
import type { FormInput } from "../domain/fields.ts";
import { addTo } from "../domain/groups.ts";
import { modelTest } from "../domain/models.ts";
import { checkOpened } from "../domain/opened.ts";
import { effectiveDescription, type Printer } from "../domain/printer.ts";
import { revisionsWith } from "../pkg/scripts/revision.ts";
import type { Store } from "../store/store.ts";
import type { PackageBuilder } from "./packages.ts";
import { wantedOf } from "./source-files.ts";

interface DriverServices {
  readonly store: Store;
  readonly packages: Pick<PackageBuilder, "prepare">;
}

/** What became of a driver's form; where it is not saved, what a person is to agree to first. */
interface DriverSave {
  readonly isSaved: boolean;
  readonly effects: DriverEffects;
  /** Whether a person agreed to other effects than there are now. */
  readonly isStale: boolean;
}

/**
 * Saves a driver's form. One of our own forms is asked to be sent again with `confirmed`, the digest of what the save
 * does, where it does anything to printers; from any other sender it is taken as it is.
 * @throws UserError "not-found", "invalid" with a message for each field, or "stale" where somebody else has saved
 *   the driver since the form was opened
 */
export async function saveDriver(services: DriverServices, id: number, form: FormInput): Promise<DriverSave> {
  for (;;) {
    const saved = await saveOnce(services, id, form);
    if (saved !== "stale") return saved;
  }
}

/** @returns `stale` where somebody else has saved the driver between the look at it and the write */
async function saveOnce(
  { store, packages }: DriverServices,
  id: number,
  form: FormInput,
): Promise<DriverSave | "stale"> {
  const driver = store.drivers.get(id);
  const seen = driverFormValues(driver);
  checkOpened(form.opened, seen);
  const settings = parseDriver(form, driver);
  const effects = await effectsOf(store, driver, settings);
  const { confirmed = "" } = form;
  if (isFromForm(form) && hasEffects(effects) && confirmed !== effects.digest) {
    return { isSaved: false, effects, isStale: confirmed !== "" };
  }
  if (!(await store.drivers.update(id, settings, seen))) return "stale";
  const { onlyUsedBy } = wantedOf({ ...driver, ...settings });
  if (onlyUsedBy !== wantedOf(driver).onlyUsedBy) packages.prepare(driver);
  return { isSaved: true, effects, isStale: false };
}

/** Printers that are compared before others have their turn. */
const atOnce = 100;

async function effectsOf(store: Store, driver: Driver, settings: DriverSettings): Promise<DriverEffects> {
  const after = { ...driver, ...settings };
  const [isLostBefore, isLost] = [lostIn(driver), lostIn(after)];
  const isNewlyLost = ({ before, now }: DeployedModel) => isLost(now) && !isLostBefore(before);
  const affected = affectedAmong(store.clients.names());
  const again: AffectedPrinter[] = [];
  const switched: AffectedPrinter[] = [];
  const [lost, lostOnArm64] = [new Map<string, AffectedPrinter[]>(), new Map<string, AffectedPrinter[]>()];
  const hash = createHash("sha256");
  for await (const { printer, revision } of changedBy(store, driver, after)) {
    again.push(affected(printer));
    hash.update(`${printer.id} ${revision}\n`);
    const models = modelsOf(printer, driver, after);
    if (models.some(({ before, now }) => before !== now)) switched.push(affected(printer));
    for (const { now, isArm64 } of models.filter(isNewlyLost))
      addTo(isArm64 ? lostOnArm64 : lost, now, affected(printer));
  }
  const isRefused = isLost(after.driver_desc) && after.driver_desc !== driver.driver_desc;
  const refusedModel = isRefused ? after.driver_desc : undefined;
  hash.update(JSON.stringify([refusedModel, [...lost.keys()], [...lostOnArm64.keys()]]));
  return {
    again,
    switched: { from: driver.driver_desc, to: after.driver_desc, printers: switched },
    lost,
    lostOnArm64,
    refusedModel,
    digest: hash.digest("hex").slice(0, 16),
  };
}

/** The printers whose revision a change of a driver changes, with the new one. */
async function* changedBy(
  store: Store,
  driver: Driver,
  after: Driver,
): AsyncGenerator<{ readonly printer: Printer; readonly revision: string }> {
  const makers = new Map<string, (printer: Printer) => readonly [before: string, after: string]>();
  for (const [i, printer] of store.printers.wholeOfDriver(driver.id).entries()) {
    const { driver_id, arm64_driver_id } = printer;
    const key = `${driver_id} ${arm64_driver_id}`;
    const known = makers.get(key);
    // Reading reports takes time, as many printers do.
    if (i > 0 && (known === undefined || i % atOnce === 0)) await new Promise((done) => setImmediate(done));
    const revisions = known ?? revisionsOf(store, driver, after, printer);
    makers.set(key, revisions);
    const [revisionBefore, revision] = revisions(printer);
    if (revisionBefore !== revision) yield { printer, revision };
  }
}

/** Makes revisions of all printers with the drivers of this one, before and after one of them changes. */
function revisionsOf(
  { drivers }: Store,
  before: Driver,
  after: Driver,
  { driver_id, arm64_driver_id }: Printer,
): (printer: Printer) => readonly [before: string, after: string] {
  const maker = (changed: Driver) => {
    const driverOf = (id: number | null) => (id === changed.id ? changed : drivers.find(id ?? 0));
    const driver = driverOf(driver_id);
    // Without a first driver there is nothing that is deployed.
    return driver === undefined ? () => "" : revisionsWith(driver, driverOf(arm64_driver_id));
  };
  const [makeBefore, makeAfter] = [maker(before), maker(after)];
  return (printer) => [makeBefore(printer), makeAfter(printer)];
}

interface DeployedModel {
  readonly before: string;
  readonly now: string;
  readonly isArm64: boolean;
}

/** What a printer deploys of a driver, which may be its first, its second, or both. */
function modelsOf(printer: Printer, before: Driver, after: Driver): DeployedModel[] {
  const models: DeployedModel[] = [];
  if (printer.driver_id === before.id) {
    const of = (driver: Driver) => effectiveDescription(printer, driver);
    models.push({ before: of(before), now: of(after), isArm64: false });
  }
  if (printer.arm64_driver_id === before.id) {
    const of = (driver: Driver) => arm64Description(printer, driver);
    models.push({ before: of(before), now: of(after), isArm64: true });
  }
  return models;
}

/** Whether the INF, which names models, lacks one. */
function lostIn(driver: Driver): (model: string) => boolean {
  const has = modelTest(chosenInf(driver));
  return (model) => model !== "" && !has(model);
}
