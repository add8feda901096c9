import { join } from "node:path";
import { fileDigests } from "../backup/backup.ts";
import { readDatabase } from "../database.ts";

/** Tables that also refused requests and requests without changes may write to. */
const auditTables = /^(?:changes|audit_places|downloads|saves)$/;
const fileFolders = ["drivers", "icons", "preferences", "signatures", "incoming", "backups"];

/** The first save of a day keeps a state, also a save of a token's last use. */
const dailyBackups = /^backups\/platen-[\dT:.-]+Z-\d+\.sqlite/;

/** Columns of the last use, which refused requests may change too. */
const usageColumns = new Set(["seen_at", "used_at", "used_from"]);

/** The content of a data folder as lines: each row of the database and each file with its digest, without the audit log. */
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
  const files = fileFolders.flatMap((folder) =>
    Object.entries(fileDigests(join(dataDir, folder))).map(([name, digest]) => `${folder}/${name} ${digest}`),
  );
  return [...rows, ...files.filter((line) => !dailyBackups.test(line))].sort();
}
