import { createHash } from "node:crypto";
import { addTo } from "../../domain/collections.ts";
import type { KeptChange } from "../../domain/deletion.ts";
import { chosenInf, type Driver } from "../../domain/drivers/driver.ts";
import { type AffectedPrinter, affectedPrinterMaker } from "../../domain/drivers/driver-effects.ts";
import { modelTest, needsModelChoice } from "../../domain/drivers/models.ts";
import { UserError } from "../../domain/errors.ts";
import { cleanText, throwIfAny } from "../../domain/fields.ts";
import type { PrinterChange } from "../../domain/printers/change-effects.ts";
import type { PrinterWithModels } from "../../domain/printers/listings.ts";
import {
  driverDescFor,
  type MovePair,
  type MovePlan,
  modelMatcher,
} from "../../domain/printers/move-plan.ts";
import { effectiveDescription } from "../../domain/printers/printer.ts";
import { arm64Description, arm64Problem } from "../../domain/printers/printer-drivers.ts";
import type { Store } from "../../store/store.ts";
import { checkProtocols } from "./bulk-changes.ts";

/** A plan, and its printers as they are before the move. */
interface PlanWithPrinters extends MovePlan {
  readonly printers: readonly PrinterWithModels[];
}

/** The effect of moving all printers of a driver to another one. @throws UserError "not-found", "invalid" */
export function planMove(store: Store, fromId: number, toId: number): PlanWithPrinters {
  if (fromId === toId)
    throw new UserError("invalid", "These printers already use this driver. Choose another.");
  const [from, to] = [store.drivers.get(fromId), store.drivers.get(toId)];
  const match = modelMatcher(to);
  const affected = affectedPrinterMaker(store.clients.names());
  const byModel = new Map<string, AffectedPrinter[]>();
  const byArm64Model: typeof byModel = new Map();
  const keeping: AffectedPrinter[] = [];
  const hasArm64Files = arm64Problem(to, undefined) === undefined;
  const printers = store.printers.modelsOf(store.printers.idsOfDriver(fromId));
  checkProtocols(to, printers);
  for (const printer of printers) {
    if (printer.driver_id === fromId) addTo(byModel, effectiveDescription(printer, from), affected(printer));
    if (printer.arm64_driver_id !== fromId) continue;
    if (hasArm64Files) addTo(byArm64Model, arm64Description(printer, from), affected(printer));
    else keeping.push(affected(printer));
  }
  const pairsOf = (groups: typeof byModel, isArm64: boolean) =>
    [...groups].map(([model, of]) => ({ model, isArm64, printers: of, match: match(model) }));
  const pairs = [...pairsOf(byModel, false), ...pairsOf(byArm64Model, true)];
  return { from, to, pairs, keeping, digest: digestOf(from, to, pairs), printers };
}

function digestOf(from: Driver, to: Driver, pairs: readonly MovePair[]): string {
  const target = [to.id, to.sha256, to.inf_path, to.driver_desc, needsModelChoice(to)];
  const idsOf = ({ printers }: MovePair) => printers.map(({ id }) => id);
  const moved = pairs.map((pair) => [pair.model, pair.isArm64, pair.match, idsOf(pair)]);
  const text = JSON.stringify([from.id, target, arm64Problem(to, undefined), moved]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** The changes of a plan, by printer id. A model that the user has to choose is the driver's own here. */
export function changesOf({ to, pairs }: MovePlan): Map<number, PrinterChange> {
  const changes = new Map<number, PrinterChange>();
  for (const { printers, isArm64, match = to.driver_desc } of pairs) {
    const set = isArm64
      ? { arm64_driver_id: to.id, arm64_driver_desc: match }
      : { driver_id: to.id, driver_desc: match };
    for (const { id } of printers) changes.set(id, { ...changes.get(id), ...set });
  }
  return changes;
}

/** The models that the user chose, by the index of the pair in the plan. */
type ChosenModels = (pair: number) => string | undefined;

/**
 * Moves all printers of a driver to another one in one write, or none.
 * @param digest of the plan that the user confirmed
 * @returns `count`: the number of moved printers
 * @throws UserError "not-found", "conflict" if the plan has changed since, "invalid" with a message for each pair
 *   without a model, or with a model that the driver does not have
 */
export function movePrinters(
  store: Store,
  { fromId, toId, digest }: { readonly fromId: number; readonly toId: number; readonly digest: string },
  chosen: ChosenModels,
): Promise<{ readonly count: number; readonly undo: KeptChange }> {
  return store.change(() => {
    const plan = planMove(store, fromId, toId);
    if (plan.digest !== digest) {
      const message = "No printer was moved. The data changed meanwhile. Check the new effects below.";
      throw new UserError("conflict", message, { to: message });
    }
    const { models, arm64Models } = modelsByPrinter(plan, chosen);
    const ids = [...new Set([...models.keys(), ...arm64Models.keys()])];
    const undo = store.manyPrinters.keepEarlier(ids, () => {
      store.manyPrinters.useDriver(toId, models);
      store.manyPrinters.useDriver(toId, arm64Models, "arm64_");
    });
    return { count: ids.length, undo };
  });
}

/** The new `driver_desc` and `arm64_driver_desc` by printer id. */
function modelsByPrinter({ to, pairs, printers: all }: PlanWithPrinters, chosen: ChosenModels) {
  const problems: Record<string, string> = {};
  const [models, arm64Models] = [new Map<number, string>(), new Map<number, string>()];
  const byId = new Map(all.map((printer) => [printer.id, printer]));
  const has = modelTest(chosenInf(to));
  for (const [i, { printers, isArm64, match }] of pairs.entries()) {
    const wanted = cleanText(chosen(i) ?? match ?? "");
    const problem = problemOf(wanted, has);
    if (problem !== undefined) problems[`model_${i}`] = problem;
    const field = isArm64 ? "arm64_driver_desc" : "driver_desc";
    const given = isArm64 ? arm64Models : models;
    for (const { id } of printers) given.set(id, driverDescFor(to, wanted, byId.get(id)?.[field] ?? ""));
  }
  throwIfAny(problems);
  return { models, arm64Models };
}

function problemOf(model: string, has: (model: string) => boolean): string | undefined {
  if (model === "") return "Choose a model for these printers.";
  return has(model) ? undefined : `The driver does not contain the model “${model.slice(0, 100)}”.`;
}
