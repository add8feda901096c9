import type { SqlValue } from "sql.js";
import type { Queries, Row } from "../database/rows.ts";
import { type AuditedTable, auditedTables } from "./audited-tables.ts";

// What a record was before a write stands in a temporary table, which triggers fill: one row for each record, however
// often the write changes it. Nothing temporary is ever saved.

/** A record that a write touched. */
export interface TouchedRecord {
  readonly id: number;
  /** Its name now; of one that is deleted its last. */
  readonly name: string;
  readonly wasThere: boolean;
  readonly isThere: boolean;
  /** Values before and now, by column. */
  readonly values: readonly (readonly [column: string, before: SqlValue, now: SqlValue])[];
  readonly json: readonly [before: string, now: string];
  /** The columns without values of which it is known that they changed. */
  readonly hidden: readonly string[];
}

/** Statements that see to it that a connection remembers what was before. */
export const watching: string = [
  ...auditedTables.flatMap(watchingOf),
  "CREATE TEMP TABLE restoring (id INTEGER PRIMARY KEY)",
  // A deletion without a title is over; one that has it goes because it is taken back.
  `CREATE TEMP TRIGGER restoring_deleted AFTER DELETE ON main.deletions WHEN OLD.title <> ''
    BEGIN INSERT INTO restoring VALUES (OLD.id); END`,
].join(";\n");

/** The tables in which a write touched anything. */
export function touchedTables(db: Queries): AuditedTable[] {
  const questions = auditedTables.map(({ table }) => `EXISTS (SELECT 1 FROM temp.old_${table}) AS ${table}`);
  const row = db.first(`SELECT ${questions.join()}`);
  return auditedTables.filter(({ table }) => row?.[table] === 1);
}

/** Whether a write takes a deletion back. */
export function isRestoring(db: Queries): boolean {
  return db.first("SELECT 1 FROM temp.restoring") !== undefined;
}

/** The next records that a write touched, by number. */
export function touchedRecords(
  db: Queries,
  table: AuditedTable,
  after: number,
  limit: number,
): TouchedRecord[] {
  const { id, name } = table;
  const of = `FROM temp.old_${table.table} AS old LEFT JOIN main.${table.table} AS new ON new.${id} = old.old_id`;
  const columns = ["old_id", "was_there", "old_name", ...table.shown, ...table.hidden].map(
    (column) => `old.${column}`,
  );
  const now = table.shown.map((column) => `new.${column} AS now_${column}`);
  const rows = db.all(
    `SELECT ${[...columns, ...now, ...jsonOf(table)].join()}, new.${id} AS now_id, ${name.replaceAll("row.", "new.")} AS record_name
      ${of} WHERE old.old_id > ? ORDER BY old.old_id LIMIT ?`,
    [after, limit],
  );
  return rows.map((row) => recordOf(table, row));
}

/** Long texts are not read where they are the same. */
function jsonOf({ json }: AuditedTable): string[] {
  if (json === undefined) return [];
  const when = `CASE WHEN old.${json} IS NOT new.${json} THEN`;
  return [`${when} old.${json} END AS ${json}`, `${when} new.${json} END AS now_${json}`];
}

/** Forgets what was before: the next write begins. */
export function forgetTouched(db: Queries, tables: readonly AuditedTable[]): void {
  for (const { table } of tables) db.all(`DELETE FROM temp.old_${table}`);
  db.all("DELETE FROM temp.restoring");
}

function recordOf({ shown, hidden, json }: AuditedTable, row: Row): TouchedRecord {
  const isThere = row.now_id !== null;
  return {
    id: Number(row.old_id),
    name: String(isThere ? row.record_name : row.old_name),
    wasThere: row.was_there === 1,
    isThere,
    values: shown.map((column) => [column, row[column] ?? null, row[`now_${column}`] ?? null]),
    json: [String(row[json ?? ""] ?? ""), String(row[`now_${json}`] ?? "")],
    hidden: hidden.filter((column) => row[column] === 1),
  };
}

function watchingOf(audited: AuditedTable): string[] {
  const { table, id, name, shown, hidden, json } = audited;
  const columns = [...shown, ...(json ? [json] : [])];
  const changed = hidden.map((column) => `OLD.${column} IS NOT NEW.${column}`);
  const isOther = [...columns.map((column) => `OLD.${column} IS NOT NEW.${column}`), ...changed].join(" OR ");
  const old = [
    `OLD.${id}`,
    "1",
    name.replaceAll("row.", "OLD."),
    ...columns.map((column) => `OLD.${column}`),
  ];
  const or = hidden.map((column) => `${column} = ${column} OR excluded.${column}`);
  const again = or.length > 0 ? `DO UPDATE SET ${or.join()}` : "DO NOTHING";
  const trigger = (event: string, when: string, insert: string) =>
    `CREATE TEMP TRIGGER old_${table}_${event} AFTER ${event} ON main.${table} ${when} BEGIN INSERT INTO old_${table} ${insert}; END`;
  const place = ["old_id INTEGER PRIMARY KEY", "was_there", "old_name"];
  return [
    `CREATE TEMP TABLE old_${table} (${[...place, ...columns, ...hidden].join()})`,
    trigger("INSERT", "", `(old_id, was_there) VALUES (NEW.${id}, 0) ON CONFLICT DO NOTHING`),
    trigger(
      "UPDATE",
      `WHEN ${isOther}`,
      `VALUES (${[...old, ...changed].join()}) ON CONFLICT (old_id) ${again}`,
    ),
    trigger("DELETE", "", `VALUES (${[...old, ...hidden.map(() => "0")].join()}) ON CONFLICT DO NOTHING`),
  ];
}
