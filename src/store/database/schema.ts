import type { Database as SqlJsDatabase, SqlJsStatic, SqlValue } from "sql.js";
import { Connection } from "./connection.ts";
import { migrations } from "./migrations.ts";

/** A table or an index: its kind, its name, what it is of, and the statement that makes it. */
type Part = readonly [kind: string, name: string, table: string, statement: string];

const partsOf = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name";

/**
 * Sees to it that a file's tables and indexes are those that its version's migrations make, to the letter: a column that is
 * calculated, a default or a rule of somebody else's would change what Platen reads and writes. Nothing of a schema runs
 * before this.
 * @throws Error that names what differs
 */
export function checkSchema(sql: SqlJsStatic, db: SqlJsDatabase): void {
  const version = Number(db.exec("PRAGMA user_version")[0]?.values[0]?.[0]);
  // Of a newer one nothing is known, and nothing more is read.
  if (version > migrations.length) return;
  if (version <= 0) throw new Error("it is no database of Platen’s");
  const expected = new Map(schemaOf(sql, version).map((part) => [part[1], part]));
  for (const part of (db.exec(partsOf)[0]?.values ?? []).map(toPart)) {
    const [kind, name] = part;
    const made = expected.get(name);
    if (made === undefined) throw new Error(`it holds “${name}”, which Platen never makes`);
    if (JSON.stringify(made) !== JSON.stringify(part))
      throw new Error(`its ${kind} “${name}” is not as Platen makes it`);
    expected.delete(name);
  }
  for (const [name, [kind]] of expected) throw new Error(`it lacks the ${kind} “${name}”`);
}

/** What so many migrations make. */
function schemaOf(sql: SqlJsStatic, version: number): Part[] {
  const made = new Connection(new sql.Database());
  try {
    for (const step of migrations.slice(0, version)) {
      if (typeof step === "string") made.run(step);
      else step(made);
    }
    return made.all(partsOf).map((row) => toPart(Object.values(row)));
  } finally {
    made.close();
  }
}

/** Space and line breaks are how the source was written. */
function toPart([kind, name, table, statement]: readonly (SqlValue | undefined)[]): Part {
  const text = String(statement ?? "").replace(/\s+/g, " ");
  return [String(kind), String(name), String(table), text];
}
