import type { ModelsKept } from "../domain/bulk.ts";
import { chosenInf, type Driver } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import { cleanText, throwIfAny } from "../domain/fields.ts";
import { listedSettingsFrom } from "../domain/printer-fields.ts";
import type { Queries } from "./rows.ts";

// Each is a few statements however many printers there are, inside a write of its caller's.

const among = "IN (SELECT value FROM json_each(?))";

/** @throws UserError "invalid" that names the printers that are not there */
export function checkIds(db: Queries, ids: readonly number[]): void {
  const rows = db.all(`SELECT id FROM printers WHERE id ${among}`, [JSON.stringify(ids)]);
  if (rows.length === ids.length) return;
  const there = new Set(rows.map(({ id }) => Number(id)));
  const gone = ids.filter((id) => !there.has(id));
  const more = gone.length > 5 ? ` and ${gone.length - 5} more` : "";
  const message = `There is no printer ${gone.slice(0, 5).join(", ")}${more}. Nothing was changed: load the list again.`;
  throw new UserError("invalid", message);
}

export function setClient(db: Queries, ids: readonly number[], clientId: number | null, now: number): void {
  const set = "UPDATE printers SET client_id = ?1, updated_at = ?2 WHERE client_id IS NOT ?1 AND id";
  db.all(`${set} IN (SELECT value FROM json_each(?3))`, [clientId, now, JSON.stringify(ids)]);
}

/**
 * Gives printers a driver and its models.
 * @param model of all; empty: each keeps its own where the driver has it, and else takes the driver's
 * @throws UserError "invalid" where the driver does not have the model
 */
export function setDriver(
  db: Queries,
  ids: readonly number[],
  {
    driver,
    model,
    now,
  }: { readonly driver: Driver | undefined; readonly model: string; readonly now: number },
): ModelsKept {
  const rows = db.all(`SELECT id, settings FROM printers WHERE id ${among}`, [JSON.stringify(ids)]);
  const own = rows.map((row) => {
    const id = Number(row.id);
    return { id, model: listedSettingsFrom(String(row.settings)).driver_desc };
  });
  const known = modelsAmong(driver, new Set([model, ...own.map((printer) => printer.model)]));
  if (model !== "" && !known.has(model)) {
    const message = driver ? `The driver has no model “${model}”.` : "Without a driver there is no model.";
    throwIfAny({ driver_desc: message });
  }
  const others = own.filter((printer) => printer.model !== "");
  const kept = model === "" ? others.filter((printer) => known.has(printer.model)) : [];
  const reset = model === "" ? others.filter((printer) => !known.has(printer.model)) : [];
  const changed = model === "" ? reset : own.filter((printer) => printer.model !== model);
  db.all(
    `UPDATE printers SET settings = json_set(settings, '$.driver_desc', ?), updated_at = ? WHERE id ${among}`,
    [model, now, JSON.stringify(changed.map(({ id }) => id))],
  );
  const set = "UPDATE printers SET driver_id = ?1, updated_at = ?2 WHERE driver_id IS NOT ?1 AND id";
  db.all(`${set} IN (SELECT value FROM json_each(?3))`, [driver?.id ?? null, now, JSON.stringify(ids)]);
  return { kept: kept.length, reset: reset.length };
}

/** Those of the wanted models that a driver has; all, where its INF names none. One look at each model. */
function modelsAmong(driver: Driver | undefined, wanted: ReadonlySet<string>): ReadonlySet<string> {
  if (driver === undefined) return new Set();
  const models = chosenInf(driver)?.descriptions ?? [];
  if (models.length === 0) return wanted;
  const found = new Set([driver.driver_desc].filter((model) => wanted.has(model)));
  for (const model of models) {
    const name = wanted.has(model) ? model : cleanText(model);
    if (wanted.has(name)) found.add(name);
  }
  return found;
}
