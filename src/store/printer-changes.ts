import { UserError } from "../domain/errors.ts";
import type { Queries } from "./database/rows.ts";
import { inParts } from "./database/slices.ts";

// Each is a few statements for hundreds of printers, inside a write of its caller's.

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

export function* setClient(
  db: Queries,
  ids: readonly number[],
  clientId: number | null,
  now: number,
): Generator<undefined, void> {
  const set = "UPDATE printers SET client_id = ?1, updated_at = ?2 WHERE client_id IS NOT ?1 AND id";
  yield* inParts(ids, (some) =>
    db.all(`${set} IN (SELECT value FROM json_each(?3))`, [clientId, now, JSON.stringify(some)]),
  );
}

/**
 * Gives printers a driver and models of their own.
 * @param kind what the names of the first driver's fields begin with, or the second's
 * @param models by the printers' ids
 */
export function* setDriver(
  db: Queries,
  kind: "" | "arm64_",
  driverId: number | null,
  models: ReadonlyMap<number, string>,
  now: number,
): Generator<undefined, void> {
  // One statement however many models there are; a list of lists would take ten times as long.
  const given =
    "SELECT json_extract(value, '$[0]') AS id, json_extract(value, '$[1]') AS model FROM json_each(?3)";
  yield* inParts([...models], (some) =>
    db.all(
      `UPDATE printers SET updated_at = ?1, ${kind}driver_id = ?2,
        settings = json_set(settings, '$.${kind}driver_desc', given.model) FROM (${given}) AS given WHERE printers.id = given.id`,
      [now, driverId, JSON.stringify(some)],
    ),
  );
}
