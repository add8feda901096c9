import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import initSqlJs, { type SqlJsStatic } from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";

let sql: Promise<SqlJsStatic> | undefined;

/** Tables that also refused requests and requests without changes may write to. */
const auditTables = /^(?:changes|audit_places|downloads|saves)$/;
const fileFolders = /^(?:drivers|icons|preferences|signatures|incoming|backups)$/;

/** The first save of a day keeps a state, also a save of a token's last use. */
const dailyBackups = /^backups\/platen-[\dT:.-]+Z-\d+\.sqlite/;

/** Columns of the last use, which refused requests may change too. */
const usageColumns = new Set(["seen_at", "used_at", "used_from"]);

/** The content of a data folder as lines: each row of the database and each file with its size, without the audit log. */
export async function stateOf(dataDir: string): Promise<string[]> {
  sql ??= initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
  const db = new (await sql).Database(new Uint8Array(readFileSync(join(dataDir, "platen.sqlite"))));
  const tables = namesIn(db.exec("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"));
  const rows = tables
    .filter((table) => !auditTables.test(table))
    .flatMap((table) => {
      const [found] = db.exec(`SELECT * FROM ${table}`);
      const columns = found?.columns ?? [];
      const rows = (found?.values ?? []).map((cells) =>
        cells.filter((_, i) => !usageColumns.has(columns[i] ?? "")),
      );
      return rows.map((cells) => `${table} ${JSON.stringify(cells)}`);
    });
  db.close();
  return [...rows, ...filesIn(dataDir).filter((line) => !dailyBackups.test(line))].sort();
}

function namesIn([found]: { readonly values: readonly unknown[][] }[]): string[] {
  return (found?.values ?? []).map(([name]) => String(name));
}

function filesIn(dataDir: string): string[] {
  return readdirSync(dataDir)
    .filter((folder) => fileFolders.test(folder))
    .flatMap((folder) =>
      readdirSync(join(dataDir, folder), { recursive: true, encoding: "utf8" }).map((name) => {
        const found = statSync(join(dataDir, folder, name));
        return `${folder}/${name} ${found.isFile() ? found.size : "folder"}`;
      }),
    );
}
