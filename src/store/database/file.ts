import { access, constants, readFile } from "node:fs/promises";
import type { Database as SqlJsDatabase, SqlJsStatic, SqlValue } from "sql.js";
import { messageOf } from "../../domain/errors.ts";
import { Connection } from "./connection.ts";
import { migrations } from "./migrations.ts";
import { checkSeal, pagesOf } from "./seal.ts";

const signature = "SQLite format 3\0";
const headerBytes = 100;

/** The file's bytes; undefined where there is none. @throws Error of the disk, also when it is read-only */
export async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    const bytes = await readFile(path);
    await access(path, constants.W_OK);
    return bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Opens a copy in memory of what the file holds. @throws Error that says why it is no sound database */
export function openChecked(sql: SqlJsStatic, bytes: Uint8Array): SqlJsDatabase {
  checkHeader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  checkSeal(bytes);
  const db = new sql.Database(pagesOf(bytes));
  try {
    checkSchema(sql, db);
    const first = (statement: string) => db.exec(statement)[0]?.values[0];
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

/** Where the offsets come from: https://www.sqlite.org/fileformat2.html, “The Database Header”. */
function checkHeader(bytes: Buffer): void {
  if (bytes.length === 0) throw new Error("it is empty");
  if (bytes.length < headerBytes)
    throw new Error(`it is shorter than a header: ${bytes.length} of ${headerBytes} bytes`);
  if (bytes.toString("latin1", 0, signature.length) !== signature)
    throw new Error("it does not start as an SQLite database does");
  const stored = bytes.readUInt16BE(16);
  const pageBytes = stored === 1 ? 65536 : stored;
  const whole = pageBytes * bytes.readUInt32BE(28);
  if (bytes.length < whole)
    throw new Error(`it has ${bytes.length} of ${whole} bytes: a copy of it broke off`);
}

/** A file that is there and no sound database; it was not touched. */
export class DamagedDatabase extends Error {
  override readonly name = "DamagedDatabase";
  /** Why, without its end. */
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(
      [
        `${path} cannot be read as a database (${reason}). Nothing was changed.`,
        "Started with --recover, Platen goes on from the newest good state in backups, where there is one; the damaged file is set aside, never deleted.",
        "Where there is a backup elsewhere, platen restore FILE.tar is the other way: it puts that in the place of all this, which is kept.",
        "Put a backup in its place, or move it away to start afresh: archives and icons stay where they are, and are found again when their database is.",
        "In the container: docker compose stop, then docker compose run --rm --service-ports platen node /app/platen.cjs --recover",
      ].join("\n"),
    );
    this.reason = reason;
  }
}

/** A sound database of a later version of this program. */
export class NewerDatabase extends Error {
  override readonly name = "NewerDatabase";

  constructor(path: string, found: number, known: number) {
    super(
      `${path} was written by a newer Platen (schema ${found}, this one knows ${known}). Start that version again; nothing was changed.`,
    );
  }
}

/** What a start says of a file that it does not touch. */
export function unreadable(path: string, error: unknown): DamagedDatabase {
  return new DamagedDatabase(path, messageOf(error));
}

/** A table or an index: its kind, its name, what it is of, and the statement that makes it. */
type Part = readonly [kind: string, name: string, table: string, statement: string];

const partsOf = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name";

/**
 * Sees to it that a file's tables and indexes are those that its version's migrations make, to the letter: a column that is
 * calculated, a default or a rule of somebody else's would change what Platen reads and writes. Nothing of a schema runs
 * before this.
 * @throws Error that names what differs
 */
function checkSchema(sql: SqlJsStatic, db: SqlJsDatabase): void {
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
