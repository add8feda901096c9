import { createHash } from "node:crypto";
import { chosenInf, type Driver } from "../domain/driver.ts";
import { type AffectedPrinter, affectedAmong, grouped } from "../domain/driver-effects.ts";
import { UserError } from "../domain/errors.ts";
import { cleanText, throwIfAny } from "../domain/fields.ts";
import { isUnchosen } from "../domain/findings.ts";
import { type MovePair, type MovePlan, modelMatcher } from "../domain/move-plan.ts";
import { effectiveDescription } from "../domain/printer.ts";
import type { Store } from "../store/store.ts";

/** What moving all printers of a driver to another one does. @throws UserError "not-found", "invalid" */
export function planMove(store: Store, fromId: number, toId: number): MovePlan {
  if (fromId === toId)
    throw new UserError("invalid", "The printers have this driver already: choose another.");
  const [from, to] = [store.drivers.get(fromId), store.drivers.get(toId)];
  const names = namesOf(to);
  const match = modelMatcher(to, names);
  const affected = affectedAmong(store.clients.names());
  const groups = new Map<string, AffectedPrinter[]>();
  for (const printer of store.printers.wholeOfDriver(fromId)) {
    grouped(groups, effectiveDescription(printer, from), affected(printer));
  }
  const pairs = [...groups].map(([model, printers]) => ({ model, printers, match: match(model) }));
  return { from, to, pairs, digest: digestOf(from, to, pairs) };
}

function digestOf(from: Driver, to: Driver, pairs: readonly MovePair[]): string {
  const target = [to.id, to.sha256, to.inf_path, to.driver_desc, isUnchosen(to)];
  const moved = pairs.map(({ model, printers, match }) => [
    model,
    match?.model,
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
export async function movePrinters(
  store: Store,
  { fromId, toId, digest }: { readonly fromId: number; readonly toId: number; readonly digest: string },
  chosen: ChosenModels,
): Promise<number> {
  return store.manyPrinters.moveToDriver(toId, () => {
    const plan = planMove(store, fromId, toId);
    if (plan.digest !== digest) {
      const message = "Something changed meanwhile: nothing was moved. This is what moving does now.";
      throw new UserError("conflict", message, { to: message });
    }
    const printers = store.printers.wholeOfDriver(fromId);
    const withOwn = printers.filter(({ driver_desc }) => driver_desc !== "").map(({ id }) => id);
    return modelsByPrinter(plan, chosen, new Set(withOwn));
  });
}

/** What becomes of each printer's own choice of a model. @param withOwn those that have chosen one */
function modelsByPrinter(
  { to, pairs }: MovePlan,
  chosen: ChosenModels,
  withOwn: ReadonlySet<number>,
): ReadonlyMap<number, string> {
  const problems: Record<string, string> = {};
  const models = new Map<number, string>();
  const names = new Set(namesOf(to).map((name) => cleanText(name)));
  for (const [i, { printers, match }] of pairs.entries()) {
    const wanted = cleanText(chosen(i) ?? match?.model ?? "");
    const problem = problemOf(wanted, names);
    if (problem !== undefined) problems[`model_${i}`] = problem;
    const isDriversOwn = wanted === to.driver_desc && !isUnchosen(to);
    for (const { id } of printers) models.set(id, isDriversOwn && !withOwn.has(id) ? "" : wanted);
  }
  throwIfAny(problems);
  return models;
}

function problemOf(model: string, names: ReadonlySet<string>): string | undefined {
  if (model === "") return "Choose the model that these printers get.";
  if (names.size === 0 || names.has(model)) return undefined;
  return `The driver has no model “${model.slice(0, 100)}”.`;
}

function namesOf(driver: Driver): readonly string[] {
  return chosenInf(driver)?.descriptions ?? [];
}
