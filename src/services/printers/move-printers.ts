import { createHash } from "node:crypto";
import { addTo } from "../../domain/collections.ts";
import { chosenInf, type Driver } from "../../domain/drivers/driver.ts";
import { type AffectedPrinter, affectedAmong } from "../../domain/drivers/driver-effects.ts";
import { isUnchosen, modelTest } from "../../domain/drivers/models.ts";
import { UserError } from "../../domain/errors.ts";
import { cleanText, throwIfAny } from "../../domain/fields.ts";
import { arm64Description, arm64Problem } from "../../domain/printers/arm64-driver.ts";
import type { PrinterModel } from "../../domain/printers/listings.ts";
import { type MovePair, type MovePlan, modelMatcher, ownChoice } from "../../domain/printers/move-plan.ts";
import { effectiveDescription } from "../../domain/printers/printer.ts";
import type { Store } from "../../store/store.ts";
import { checkProtocols } from "./bulk-driver.ts";

/** A plan, and what each of its printers chooses by itself now. */
interface OpenPlan extends MovePlan {
  readonly printers: readonly PrinterModel[];
}

/** What moving all printers of a driver to another one does. @throws UserError "not-found", "invalid" */
export function planMove(store: Store, fromId: number, toId: number): OpenPlan {
  if (fromId === toId)
    throw new UserError("invalid", "The printers have this driver already: choose another.");
  const [from, to] = [store.drivers.get(fromId), store.drivers.get(toId)];
  const match = modelMatcher(to);
  const affected = affectedAmong(store.clients.names());
  const [first, second] = [new Map<string, AffectedPrinter[]>(), new Map<string, AffectedPrinter[]>()];
  const keeping: AffectedPrinter[] = [];
  const isPossible = arm64Problem(to, undefined) === undefined;
  const printers = store.printers.models(store.printers.idsOfDriver(fromId));
  checkProtocols(to, printers);
  for (const printer of printers) {
    if (printer.driver_id === fromId) addTo(first, effectiveDescription(printer, from), affected(printer));
    if (printer.arm64_driver_id !== fromId) continue;
    if (isPossible) addTo(second, arm64Description(printer, from), affected(printer));
    else keeping.push(affected(printer));
  }
  const pairsOf = (groups: typeof first, isArm64: boolean) =>
    [...groups].map(([model, of]) => ({ model, isArm64, printers: of, match: match(model) }));
  const pairs = [...pairsOf(first, false), ...pairsOf(second, true)];
  return { from, to, pairs, keeping, digest: digestOf(from, to, pairs), printers };
}

function digestOf(from: Driver, to: Driver, pairs: readonly MovePair[]): string {
  const target = [to.id, to.sha256, to.inf_path, to.driver_desc, isUnchosen(to), arm64Problem(to, undefined)];
  const moved = pairs.map(({ model, isArm64, printers, match }) => [
    model,
    isArm64,
    match,
    printers.map(({ id }) => id),
  ]);
  return createHash("sha256")
    .update(JSON.stringify([from.id, target, moved]))
    .digest("hex")
    .slice(0, 16);
}

/** Models that a person chose, by the place of their pair in the plan. */
type ChosenModels = (pair: number) => string | undefined;

/**
 * Moves all printers of a driver to another one in one write, or none of them.
 * @param digest of the plan that a person agreed to
 * @returns how many were moved
 * @throws UserError "not-found", "conflict" where the plan is another one by now, "invalid" with a message for each
 *   pair that has no model, or none that the driver has
 */
export function movePrinters(
  store: Store,
  { fromId, toId, digest }: { readonly fromId: number; readonly toId: number; readonly digest: string },
  chosen: ChosenModels,
): Promise<number> {
  return store.change(() => {
    const plan = planMove(store, fromId, toId);
    if (plan.digest !== digest) {
      const message = "Something changed meanwhile: nothing was moved. This is what moving does now.";
      throw new UserError("conflict", message, { to: message });
    }
    const { models, arm64Models } = modelsByPrinter(plan, chosen);
    store.manyPrinters.useDriver(toId, models);
    store.manyPrinters.useDriver(toId, arm64Models, "arm64_");
    return new Set([...models.keys(), ...arm64Models.keys()]).size;
  });
}

/** What each printer, by its id, chooses by itself from now on: of its first driver, and of its second. */
function modelsByPrinter({ to, pairs, printers: all }: OpenPlan, chosen: ChosenModels) {
  const problems: Record<string, string> = {};
  const [models, arm64Models] = [new Map<number, string>(), new Map<number, string>()];
  const own = new Map(all.map((printer) => [printer.id, printer]));
  const has = modelTest(chosenInf(to));
  for (const [i, { printers, isArm64, match }] of pairs.entries()) {
    const wanted = cleanText(chosen(i) ?? match ?? "");
    const problem = problemOf(wanted, has);
    if (problem !== undefined) problems[`model_${i}`] = problem;
    const [field, given] = isArm64
      ? (["arm64_driver_desc", arm64Models] as const)
      : (["driver_desc", models] as const);
    for (const { id } of printers) given.set(id, ownChoice(to, wanted, own.get(id)?.[field] ?? ""));
  }
  throwIfAny(problems);
  return { models, arm64Models };
}

function problemOf(model: string, has: (model: string) => boolean): string | undefined {
  if (model === "") return "Choose the model that these printers get.";
  return has(model) ? undefined : `The driver has no model “${model.slice(0, 100)}”.`;
}
