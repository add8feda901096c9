import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import initSqlJs, { type SqlJsStatic } from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";

let sql: Promise<SqlJsStatic> | undefined;

const queries = {
  clients: "SELECT id, name, notes, icon_sha256 FROM clients ORDER BY id",
  drivers: "SELECT id, sha256, name, comment FROM drivers WHERE origin = 'upload' ORDER BY id",
  windows_drivers: "SELECT id FROM drivers WHERE origin <> 'upload' ORDER BY id",
  printers: "SELECT id, name, client_id, driver_id, settings FROM printers ORDER BY id",
  icons: "SELECT printer_id, sha256 FROM icons ORDER BY printer_id",
  preferences: "SELECT printer_id, sha256 FROM preferences ORDER BY printer_id",
  deletions: "SELECT id, title FROM deletions ORDER BY id",
  deleted_files: "SELECT kind, sha256, deletion_id FROM deleted_files ORDER BY kind, sha256, deletion_id",
  accounts: "SELECT id, name, role, password_hash, one_time, disabled FROM accounts ORDER BY id",
  sessions: "SELECT id, account_id, sha256 FROM sessions ORDER BY id",
  tokens: "SELECT id, name, scope, scope_id, sha256 FROM tokens ORDER BY id",
  link_generations: "SELECT kind, id, generation FROM link_generations ORDER BY kind, id",
};

/** The rows in the database's file, for each table that users fill. */
export type Rows = Readonly<Record<keyof typeof queries, Record<string, unknown>[]>>;

/** Reads the file itself, not a service's memory. */
export async function savedRows(dataDir: string): Promise<Rows> {
  return (await readState(new Uint8Array(readFileSync(join(dataDir, "platen.sqlite"))))).rows;
}

/** @returns the rows, and the number of the last change that the audit log may not have yet; 0 when found is none */
export async function readState(
  bytes: Uint8Array,
): Promise<{ readonly rows: Rows; readonly lastChange: number }> {
  sql ??= initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
  const db = new (await sql).Database(bytes);
  const rowsOf = (query: string) => {
    const [found] = db.exec(query);
    return (found?.values ?? []).map((cells) =>
      Object.fromEntries(cells.map((cell, i) => [found?.columns[i] ?? "", cell])),
    );
  };
  const entries = Object.entries(queries).map(([table, query]) => [table, rowsOf(query)] as const);
  const lastChange = Number(db.exec("SELECT max(last) FROM changes")[0]?.values[0]?.[0] ?? 0);
  db.close();
  return { rows: Object.fromEntries(entries) as unknown as Rows, lastChange };
}

const extensions: Readonly<Record<string, string>> = { drivers: "zip", icons: "png", preferences: "dat" };

/** The files below the data folder that these rows need. */
function neededFiles({ drivers, clients, icons, preferences, deleted_files }: Rows): Set<string> {
  return new Set([
    ...drivers.map(({ sha256 }) => `drivers/${sha256}.zip`),
    ...icons.map(({ sha256 }) => `icons/${sha256}.png`),
    ...clients.flatMap(({ icon_sha256 }) => (icon_sha256 ? [`icons/${icon_sha256}.png`] : [])),
    ...preferences.map(({ sha256 }) => `preferences/${sha256}.dat`),
    ...deleted_files.map(({ kind, sha256 }) => `${kind}/${sha256}.${extensions[String(kind)]}`),
  ]);
}

const ownFiles = /^(?:platen\.sqlite(?:\.reserve)?|secret|audit|backups|lock-[0-9a-f]{16})$/;
const folders = ["drivers", "icons", "preferences", "signatures", "incoming"];

/** The files that no row needs, and the needed files that are missing. */
export function fileProblems(dataDir: string, rows: Rows): string[] {
  const needed = neededFiles(rows);
  const found = new Set<string>();
  for (const entry of readdirSync(dataDir, { withFileTypes: true })) {
    if (!folders.includes(entry.name)) found.add(entry.name);
    else for (const name of readdirSync(join(dataDir, entry.name))) found.add(`${entry.name}/${name}`);
  }
  const strays = [...found].filter((name) => !needed.has(name) && !ownFiles.test(name));
  // The files of a final deletion may be deleted already.
  const final = new Set(rows.deletions.filter(({ title }) => title === "").map(({ id }) => id));
  const kept = {
    ...rows,
    deleted_files: rows.deleted_files.filter(({ deletion_id }) => !final.has(deletion_id)),
  };
  const missing = [...neededFiles(kept)].filter((name) => !found.has(name));
  return [...strays.map((name) => `not needed: ${name}`), ...missing.map((name) => `missing: ${name}`)];
}
