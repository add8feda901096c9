import { access, constants, readFile } from "node:fs/promises";
import type { Database as SqlJsDatabase, SqlJsStatic } from "sql.js";
import { checkSeal, pagesOf } from "./seal.ts";

const signature = "SQLite format 3\0";

/** The file's bytes; undefined when there is no file. @throws an error of the disk, also when the file is read-only */
export async function readIfPresent(path: string): Promise<Uint8Array | undefined> {
  try {
    const bytes = await readFile(path);
    await access(path, constants.W_OK);
    return bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Opens the bytes of a file as a database in memory. @throws Error that says why they are no sound database */
export function openChecked(sql: SqlJsStatic, bytes: Uint8Array): SqlJsDatabase {
  if (bytes.length === 0) throw new Error("it is empty");
  if (Buffer.from(bytes.subarray(0, signature.length)).toString("latin1") !== signature)
    throw new Error("it does not start as an SQLite database does");
  checkSeal(bytes);
  const db = new sql.Database(pagesOf(bytes));
  try {
    const first = (statement: string) => db.exec(statement)[0]?.values[0];
    // Platen makes none, and they would change what it reads and writes.
    const foreign = first("SELECT name FROM sqlite_schema WHERE type IN ('trigger', 'view')")?.[0];
    if (foreign !== undefined) throw new Error(`it holds “${foreign}”, which Platen never makes`);
    const found = String(first("PRAGMA integrity_check(1)")?.[0]);
    if (found !== "ok") throw new Error(found);
    const orphan = first("PRAGMA foreign_key_check");
    if (orphan !== undefined)
      throw new Error(`row ${orphan[1]} of ${orphan[0]} refers to a row of ${orphan[2]} that is not there`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The file exists and is no sound database. It was not changed. */
export class DamagedDatabase extends Error {
  override readonly name = "DamagedDatabase";
  /** A sentence without its full stop. */
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(
      [
        `${path} cannot be read as a database (${reason}). Nothing was changed.`,
        "Started with --recover, Platen goes on from the newest good state in backups, where there is one; the damaged file is set aside, never deleted.",
        "If there is a full backup elsewhere, platen restore FILE.tar replaces everything with it and keeps the old files.",
        "Put a backup in its place, or move it away to start afresh: archives and icons stay in place and are used again when their database is put back.",
        "In the container: docker compose stop, then docker compose run --rm --service-ports platen node /app/platen.cjs --recover",
      ].join("\n"),
    );
    this.reason = reason;
  }
}

/** The database was written by a later version of Platen. */
export class NewerDatabase extends Error {
  override readonly name = "NewerDatabase";

  constructor(path: string, found: number, known: number) {
    super(
      `${path} was written by a newer Platen (schema ${found}, this one knows ${known}). Nothing was changed. Start that version again, or go back as docs/operating.md says: the state before an update is beside the database.`,
    );
  }
}

/** The file with the database as it was before an update changed its schema. */
export function pathOfSchema(path: string, version: number): string {
  return `${path}.schema-${version}`;
}
