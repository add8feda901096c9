import type { Queries } from "./database/rows.ts";

/** Of printers that lost their second driver: its model alone means nothing, and a form that has one is refused. */
export function emptyArm64Models(db: Queries, ids: readonly number[]): void {
  const settings = "settings = json_set(settings, '$.arm64_driver_desc', '')";
  const where = "WHERE id IN (SELECT value FROM json_each(?))";
  db.all(`UPDATE printers SET ${settings} ${where}`, [JSON.stringify(ids)]);
}
