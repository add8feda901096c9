import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { readDatabase } from "../database.ts";

/** Tables that also refused requests and requests without changes may write to. */
const auditTables = /^(?:changes|audit_places|downloads|saves)$/;
const fileFolders = /^(?:drivers|icons|preferences|signatures|incoming|backups)$/;

/** The first save of a day keeps a state, also a save of a token's last use. */
const dailyBackups = /^backups\/platen-[\dT:.-]+Z-\d+\.sqlite/;

/** Columns of the last use, which refused requests may change too. */
const usageColumns = new Set(["seen_at", "used_at", "used_from"]);

/** The content of a data folder as lines: each row of the database and each file with its size, without the audit log. */
export async function stateOf(dataDir: string): Promise<string[]> {
  const rows = await readDatabase(join(dataDir, "platen.sqlite"), (db) => {
    const [tables] = db.exec("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    const names = (tables?.values ?? []).map(([name]) => String(name));
    return names
      .filter((table) => !auditTables.test(table))
      .flatMap((table) => {
        const [found] = db.exec(`SELECT * FROM ${table}`);
        const isCompared = (_: unknown, i: number) => !usageColumns.has(found?.columns[i] ?? "");
        return (found?.values ?? []).map((row) => `${table} ${JSON.stringify(row.filter(isCompared))}`);
      });
  });
  return [...rows, ...filesIn(dataDir).filter((line) => !dailyBackups.test(line))].sort();
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
