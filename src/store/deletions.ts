import { type AuditedEvent, recordKinds } from "../domain/audit/audit.ts";
import {
  type ChangedTable,
  changedTable,
  type DeletedRecord,
  deletionKinds,
  type KeptDeletion,
} from "../domain/deletion.ts";
import { type BlobKind, blobKinds } from "./blobs.ts";
import type { Database } from "./database/database.ts";
import { digestIn, type Queries, type Row, readRow } from "./database/rows.ts";

/**
 * The tables whose rows a deletion removes, each before the tables that refer to it. The rows move to a table with the
 * deletion's id as first column, then the same columns: `deleted_printers` for `printers`.
 */
export const deletedTables = [
  "clients",
  "drivers",
  "reports",
  "printers",
  "icons",
  "preferences",
  "downloads",
] as const;
type DeletedTable = (typeof deletedTables)[number];

/** A file of a deleted record. */
export interface DeletedFile {
  readonly kind: BlobKind;
  readonly sha256: string;
}

/** A deletion that cannot be undone, and whose files may still exist. */
export interface FinalDeletion {
  readonly id: number;
  readonly files: readonly DeletedFile[];
}

/** The result of a write that deletes. */
export interface Removal {
  /** Undefined when the deletion is final. */
  readonly deletionId: number | undefined;
  /** All final deletions whose files can be deleted as soon as the write is on disk. */
  readonly finalDeletions: readonly FinalDeletion[];
}

/** The clients and drivers of deleted printers at the time of the deletion. They may be deleted before the printers are restored. */
export interface References {
  readonly clients: readonly { readonly id: number; readonly name: string }[];
  readonly drivers: readonly {
    readonly id: number;
    readonly name: string;
    readonly sha256: string;
    /** The INF and the models that lists showed for the driver. */
    readonly models: string;
  }[];
  /** For a change: digests of what it left, by record id. */
  readonly left?: Readonly<Record<string, string>>;
}

interface NewDeletion extends DeletedRecord {
  /** For each table: the column to match, and the ids. */
  readonly rows: readonly (readonly [DeletedTable, string, readonly number[]])[];
  readonly files: readonly DeletedFile[];
  readonly references?: References;
}

export const noReferences: References = { clients: [], drivers: [] };

/**
 * Call this within the write that deletes, before its DELETE statements. A final deletion has a row only until its files are
 * deleted, so that the next start deletes them after a crash.
 */
export function keepDeleted(db: Queries, now: number, deletion: NewDeletion, isFinal: boolean): Removal {
  const { rows, files, references = noReferences } = deletion;
  if (isFinal && files.length === 0) return { deletionId: undefined, finalDeletions: finalDeletionsIn(db) };
  const { id = null } =
    db.first(
      "INSERT INTO deletions (deleted_at, title, content) VALUES (?, ?, ?) RETURNING id",
      isFinal ? [now, "", ""] : [now, titleOf(deletion), JSON.stringify(references)],
    ) ?? {};
  keepFiles(db, Number(id), files);
  if (!isFinal)
    for (const [table, column, ids] of rows)
      db.all(
        `INSERT INTO deleted_${table} SELECT ?, * FROM ${table} WHERE ${column} IN (SELECT value FROM json_each(?))`,
        [id, JSON.stringify(ids)],
      );
  return { deletionId: isFinal ? undefined : Number(id), finalDeletions: finalDeletionsIn(db) };
}

/** Within a write: notes the files that a deletion or change needs until it is final. */
export function keepFiles(db: Queries, id: number, files: readonly DeletedFile[]): void {
  for (const { kind, sha256 } of files)
    db.all("INSERT OR IGNORE INTO deleted_files VALUES (?, ?, ?)", [id, kind, sha256]);
}

/** `printer 7 Office` */
export function titleOf({ kind, recordId, name }: DeletedRecord): string {
  return `${kind} ${recordId} ${name}`;
}

function keptDeletionFrom({ id, deleted_at, title }: Row): KeptDeletion {
  const [kind = "", recordId = "", ...name] = String(title).split(" ");
  const known = deletionKinds.find((candidate) => candidate === kind);
  if (known === undefined) throw new Error("it says of nothing known that it was deleted");
  return {
    id: Number(id),
    deleted_at: Number(deleted_at),
    kind: known,
    recordId: Number(recordId),
    name: name.join(" "),
  };
}

/** Only final deletions have an empty title. */
const isFinalSql = "title = ''";
const select = "SELECT id, deleted_at, title FROM deletions";

/** Call this within a write, or when none is under way. Delete the files only when that write is on disk. */
function finalDeletionsIn(db: Queries): FinalDeletion[] {
  const rows = db.all(`SELECT id FROM deletions WHERE ${isFinalSql} ORDER BY id`);
  return rows.map(({ id = null }) => {
    const files = db.all("SELECT kind, sha256 FROM deleted_files WHERE deletion_id = ?", [id]);
    return { id: Number(id), files: files.map(fileOf) };
  });
}

function fileOf(row: Row): DeletedFile {
  return { kind: blobKinds.find((kind) => kind === row.kind) ?? "drivers", sha256: digestIn(row) };
}

/** Within a write: deletes the rows that a deletion kept. */
export function forgetRows(db: Queries, id: number): void {
  for (const table of deletedTables) db.all(`DELETE FROM deleted_${table} WHERE deletion_id = ?`, [id]);
}

export class Deletions {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The deletions and changes that can be undone, newest first. */
  list(): KeptDeletion[] {
    return this.#db.all(`${select} WHERE NOT ${isFinalSql} ORDER BY id DESC`).map(keptDeletionFrom);
  }

  find(id: number): KeptDeletion | undefined {
    return this.#db.all(`${select} WHERE id = ? AND NOT ${isFinalSql}`, [id]).map(keptDeletionFrom)[0];
  }

  /** The deletion of a record, if it can be undone. */
  findOf(table: "clients" | "drivers" | "printers", recordId: number): KeptDeletion | undefined {
    return this.#entriesOf(table, [recordId]).find(({ kind }) => changedTable(kind) === undefined);
  }

  /** The newest change or deletion of one of the records since a change, if it can be undone. */
  findLater(table: ChangedTable, recordIds: readonly number[], changeId: number): KeptDeletion | undefined {
    return this.#entriesOf(table, recordIds).find(({ id }) => id > changeId);
  }

  /** The newest first. */
  #entriesOf(table: ChangedTable, recordIds: readonly number[]): KeptDeletion[] {
    const which = `SELECT deletion_id FROM deleted_${table} WHERE id IN (SELECT value FROM json_each(?))`;
    return this.#db
      .all(`${select} WHERE id IN (${which}) ORDER BY id DESC`, [JSON.stringify(recordIds)])
      .map(keptDeletionFrom);
  }

  /** The clients and drivers that the printers of a deletion referred to. */
  references(id: number): References {
    const row = this.#db.first("SELECT content FROM deletions WHERE id = ?", [id]);
    return JSON.parse(String(row?.content)) as References;
  }

  /** The digests of files that deletions keep or that are still to be deleted. */
  digests(kind: BlobKind): Set<string> {
    const rows = this.#db.all("SELECT DISTINCT sha256 FROM deleted_files WHERE kind = ?", [kind]);
    return new Set(rows.map(digestIn));
  }

  /** Final deletions whose files may still exist. Call this only when no write is under way. */
  listFinal(): FinalDeletion[] {
    return finalDeletionsIn(this.#db);
  }

  /** Whether a deletion other than those in `except` needs a file. */
  needsFile({ kind, sha256 }: DeletedFile, except: { has(id: number): boolean }): boolean {
    const where = "WHERE kind = ? AND sha256 = ?";
    const rows = this.#db.all(`SELECT deletion_id FROM deleted_files ${where}`, [kind, sha256]);
    return rows.some(({ deletion_id }) => !except.has(Number(deletion_id)));
  }

  /**
   * Makes deletions final, and forgets the earlier rows of changes. Ids that can no longer be undone are ignored.
   * @param isRequested whether a user requested it before the time to undo was over. A user can request it of deletions only.
   * @returns how many it made final, and all final deletions with their files
   */
  makeFinal(
    ids: readonly number[],
    isRequested: boolean,
  ): Promise<{ readonly count: number; readonly finalDeletions: readonly FinalDeletion[] }> {
    return this.#db.freeingWrite(() => {
      const found = ids.flatMap((id) => this.find(id) ?? []);
      const kept = found.filter(({ kind }) => !isRequested || changedTable(kind) === undefined);
      for (const deletion of kept) {
        this.#db.all("UPDATE deletions SET title = '', content = '' WHERE id = ?", [deletion.id]);
        forgetRows(this.#db, deletion.id);
        if (isRequested) this.#db.recordEvent("deleted-for-good", deletionDetails(deletion));
      }
      const fileless = "id NOT IN (SELECT deletion_id FROM deleted_files)";
      this.#db.all(`DELETE FROM deletions WHERE ${isFinalSql} AND ${fileless}`);
      return { count: kept.length, finalDeletions: finalDeletionsIn(this.#db) };
    });
  }

  /** Removes a final deletion whose files are deleted. */
  forget(id: number): Promise<void> {
    return this.#db.freeingWrite(() => {
      this.#db.all(`DELETE FROM deletions WHERE id = ? AND ${isFinalSql}`, [id]);
    });
  }

  /** Reads every deletion, as a start does. @throws Error naming the row that cannot be read */
  check(): void {
    for (const row of this.#db.all(`${select} WHERE NOT ${isFinalSql} ORDER BY id`))
      readRow(`the deletion ${row.id}`, () => [keptDeletionFrom(row), this.references(Number(row.id))]);
    for (const row of this.#db.all("SELECT * FROM deleted_files"))
      readRow(`a file of the deletion ${row.deletion_id}`, () => fileOf(row));
  }
}

/** The details of a deletion in the audit log: its record or, for several printers, only their number. */
function deletionDetails({ kind, recordId: id, name }: KeptDeletion): Pick<AuditedEvent, "record" | "what"> {
  const record = recordKinds.find((known) => known === kind);
  return record === undefined ? { what: name } : { record: { kind: record, id, name } };
}
