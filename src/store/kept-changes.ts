import { createHash } from "node:crypto";
import type { ChangedTable, DeletedRecord, KeptChange } from "../domain/deletion.ts";
import type { Queries, Row } from "./database/rows.ts";
import { forgetRows, noReferences, type References, titleOf } from "./deletions.ts";
import { hasRoomForUndo } from "./record-limits.ts";

/** A change of existing records of one table. */
interface NewChange extends DeletedRecord {
  readonly table: ChangedTable;
  readonly ids: readonly number[];
  /** The clients and drivers of printers before the change. */
  readonly references?: References;
}

/**
 * Within a write: runs a change and keeps the earlier rows of the records that it really changes, so that it can be undone.
 * @param work deletes none of the rows
 */
export function keepEarlier(db: Queries, now: number, change: NewChange, work: () => void): KeptChange {
  const { table, ids, references = noReferences } = change;
  if (!hasRoomForUndo(db)) {
    work();
    return "no room";
  }
  // Until the change is kept, the row has the empty title of a final deletion, so that removing it is no undo.
  const start = "INSERT INTO deletions (deleted_at, title, content) VALUES (?, '', '') RETURNING id";
  const id = Number(db.first(start, [now])?.id);
  const among = "IN (SELECT value FROM json_each(?))";
  db.all(`INSERT INTO deleted_${table} SELECT ?, * FROM ${table} WHERE id ${among}`, [
    id,
    JSON.stringify(ids),
  ]);
  work();
  const same = contentColumns(db, table).map((name) => `row.${name} IS old.${name}`);
  const unchanged = `SELECT old.id FROM deleted_${table} AS old JOIN ${table} AS row ON row.id = old.id`;
  db.all(
    `DELETE FROM deleted_${table} WHERE deletion_id = ?1 AND id IN
      (${unchanged} WHERE deletion_id = ?1 AND ${same.join(" AND ")})`,
    [id],
  );
  const left = keptDigests(db, table, id);
  if (left.size === 0 || !hasRoomForUndo(db)) {
    forgetRows(db, id);
    db.all("DELETE FROM deletions WHERE id = ?", [id]);
    return left.size === 0 ? undefined : "no room";
  }
  const content = JSON.stringify({ ...references, left: Object.fromEntries(left) });
  db.all("UPDATE deletions SET title = ?, content = ? WHERE id = ?", [titleOf(change), content, id]);
  return id;
}

/** Digests of the present content of the records whose earlier rows a change keeps, by id. Deleted records are missing. */
export function keptDigests(db: Queries, table: ChangedTable, id: number): ReadonlyMap<number, string> {
  const columns = contentColumns(db, table).map((name) => `row.${name}`);
  const rows = db.all(
    `SELECT row.id AS id, json_array(${columns.join()}) AS content FROM ${table} AS row
      JOIN deleted_${table} AS old ON old.id = row.id WHERE deletion_id = ?`,
    [id],
  );
  return new Map(rows.map((row) => [Number(row.id), digestOf(row)]));
}

function digestOf({ content = null }: Row): string {
  return createHash("sha256").update(String(content)).digest("hex").slice(0, 16);
}

/** The columns of a table that users change. `listed` follows from other columns and from printers. */
function contentColumns(db: Queries, table: ChangedTable): string[] {
  const names = db.all(`PRAGMA table_info(${table})`).map(({ name }) => String(name));
  return names.filter((name) => name !== "updated_at" && name !== "listed");
}
