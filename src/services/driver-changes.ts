import { createHash } from "node:crypto";
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
import { effectiveDescription } from "../domain/printer.ts";
import { revisionsWith } from "../pkg/scripts/deployment.ts";
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
  const [revisionBefore, revisionAfter] = [revisionsWith(driver), revisionsWith(after)];
  const [isLostBefore, isLost] = [lostIn(driver), lostIn(after)];
  const affected = affectedAmong(store.clients.names());
  const again: AffectedPrinter[] = [];
  const switched: AffectedPrinter[] = [];
  const lost = new Map<string, AffectedPrinter[]>();
  const hash = createHash("sha256");
  for (const [i, printer] of store.printers.wholeOfDriver(driver.id).entries()) {
    if (i % atOnce === atOnce - 1) await new Promise((done) => setImmediate(done));
    const revision = revisionAfter(printer);
    if (revisionBefore(printer) === revision) continue;
    again.push(affected(printer));
    hash.update(`${printer.id} ${revision}\n`);
    const model = effectiveDescription(printer, after);
    const modelBefore = effectiveDescription(printer, driver);
    if (model !== modelBefore) switched.push(affected(printer));
    if (isLost(model) && !isLostBefore(modelBefore)) {
      addTo(lost, model, affected(printer));
    }
  }
  const isRefused = isLost(after.driver_desc) && after.driver_desc !== driver.driver_desc;
  const refusedModel = isRefused ? after.driver_desc : undefined;
  hash.update(JSON.stringify([refusedModel, [...lost.keys()]]));
  return {
    again,
    switched: { from: driver.driver_desc, to: after.driver_desc, printers: switched },
    lost,
    refusedModel,
    digest: hash.digest("hex").slice(0, 16),
  };
}

/** Whether the INF, which names models, lacks one. */
function lostIn(driver: Driver): (model: string) => boolean {
  const has = modelTest(chosenInf(driver));
  return (model) => model !== "" && !has(model);
}
