import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import initSqlJs, { type SqlJsStatic } from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";

let sql: Promise<SqlJsStatic> | undefined;

/** What is told of requests that change nothing else, also of those that are refused. */
const told = /^(?:changes|audit_places|downloads|saves)$/;
const files = /^(?:drivers|icons|incoming|backups)$/;

/** A state of each day: the first save of it makes one, also that of a token's last use. */
const daily = /^backups\/platen-[\dT:.-]+Z-\d+\.sqlite/;

/** When and from where something was used last: whoever is refused was here, too. */
const used = new Set(["seen_at", "used_at", "used_from"]);

/** All that is kept in a data folder, as lines: each row of the database, each file with its size; what the audit log needs aside. */
export async function stateOf(dataDir: string): Promise<string[]> {
  sql ??= initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
  const db = new (await sql).Database(new Uint8Array(readFileSync(join(dataDir, "platen.sqlite"))));
  const tables = namesIn(db.exec("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"));
  const rows = tables
    .filter((table) => !told.test(table))
    .flatMap((table) => {
      const [found] = db.exec(`SELECT * FROM ${table}`);
      const columns = found?.columns ?? [];
      const rows = (found?.values ?? []).map((cells) => cells.filter((_, i) => !used.has(columns[i] ?? "")));
      return rows.map((cells) => `${table} ${JSON.stringify(cells)}`);
    });
  db.close();
  return [...rows, ...filesIn(dataDir).filter((line) => !daily.test(line))].sort();
}

function namesIn([found]: { readonly values: readonly unknown[][] }[]): string[] {
  return (found?.values ?? []).map(([name]) => String(name));
}

function filesIn(dataDir: string): string[] {
  return readdirSync(dataDir)
    .filter((folder) => files.test(folder))
    .flatMap((folder) =>
      readdirSync(join(dataDir, folder), { recursive: true, encoding: "utf8" }).map((name) => {
        const found = statSync(join(dataDir, folder, name));
        return `${folder}/${name} ${found.isFile() ? found.size : "folder"}`;
      }),
    );
}
