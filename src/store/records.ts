import { readFile } from "node:fs/promises";
import type { DatabaseFacts } from "../domain/backup/backup.ts";
import { Accounts } from "./access/accounts.ts";
import { Links } from "./access/links.ts";
import { Sessions } from "./access/sessions.ts";
import { Tokens } from "./access/tokens.ts";
import { Changes } from "./audit/changes.ts";
import { Database } from "./database/database.ts";
import { Deletions } from "./deletions.ts";
import { Drivers } from "./drivers/drivers.ts";
import { Clients } from "./printers/clients.ts";
import { iconFiles, PrinterFiles, preferencesFiles } from "./printers/printer-files.ts";
import { Printers } from "./printers/printers.ts";

/** The tables of a database, one object for each kind of record. */
export function recordsOf(db: Database, clock: () => number) {
  const clients = new Clients(db, clock);
  const drivers = new Drivers(db, clock);
  const printers = new Printers(db, clock, clients, drivers);
  const icons = new PrinterFiles(db, clock, printers, iconFiles);
  const preferences = new PrinterFiles(db, clock, printers, preferencesFiles);
  const accounts = new Accounts(db, clock);
  const sessions = new Sessions(db, clock, accounts);
  const records = { accounts, sessions, clients, drivers, printers, icons, preferences };
  const tokens = new Tokens(db, clock);
  const links = new Links(db, clock);
  return { ...records, tokens, links, deletions: new Deletions(db), changes: new Changes(db) };
}

/** Reads every row, as a start does. @throws Error naming the row that cannot be read */
export function checkRows(records: ReturnType<typeof recordsOf>): void {
  for (const table of Object.values(records)) table.check();
}

/**
 * Reads a database as a start would, and changes nothing. It blocks the thread for as long as a start does.
 * @param path names the database in errors
 * @throws DamagedDatabase, NewerDatabase
 */
export async function readState<T>(
  path: string,
  bytes: Uint8Array,
  read: (records: ReturnType<typeof recordsOf>, db: Database) => T,
): Promise<T> {
  const check = (database: Database) => checkRows(recordsOf(database, Date.now));
  const db = await Database.openCopy(path, bytes, { check });
  try {
    return read(recordsOf(db, Date.now), db);
  } finally {
    db.close();
  }
}

/** When a database was saved, how many records it has, and which files they refer to. */
export function databaseFacts(records: ReturnType<typeof recordsOf>, db: Database): DatabaseFacts {
  const count = (table: string, where = "") =>
    Number(db.first(`SELECT count(*) AS n FROM ${table} ${where}`)?.n);
  return {
    savedAt: db.lastWrite(),
    records: {
      clients: count("clients"),
      drivers: count("drivers", "WHERE origin = 'upload'"),
      printers: count("printers"),
    },
    files: {
      drivers: [...records.drivers.digests()],
      icons: [...records.icons.digests()],
      preferences: [...records.preferences.digests()],
    },
  };
}

/** @throws DamagedDatabase, NewerDatabase, or an error of the disk */
export async function readFileFacts(
  path: string,
): Promise<{ readonly file: Buffer; readonly facts: DatabaseFacts }> {
  const file = await readFile(path);
  return { file, facts: await readState(path, file, databaseFacts) };
}
