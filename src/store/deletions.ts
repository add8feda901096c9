import type { AuditedEvent } from "../domain/audit/audit.ts";
import { type DeletedRecord, deletionKinds, type KeptDeletion } from "../domain/deletion.ts";
import type { BlobKind } from "./blobs.ts";
import type { Database } from "./database/database.ts";
import { digestIn, type Queries, type Row, readable } from "./database/rows.ts";

/**
 * The tables whose rows a deletion takes away, each before those that refer to it. The rows move to a table of the same
 * columns, `deleted_printers` for `printers`, with the deletion's id in front.
 */
export const deletedTables = ["clients", "drivers", "reports", "printers", "icons", "downloads"] as const;
type DeletedTable = (typeof deletedTables)[number];

/** A file that deleted records had. */
export interface DeletedFile {
  readonly kind: BlobKind;
  readonly sha256: string;
}

/** A deletion that is final and whose files may still be there. */
export interface EndedDeletion {
  readonly id: number;
  readonly files: readonly DeletedFile[];
}

/** What a write made of a deletion. */
export interface Removal {
  /** The deletion's id; undefined where it is final. */
  readonly kept: number | undefined;
  /** Final deletions whose files can be deleted as soon as the write is on disk. */
  readonly ended: readonly EndedDeletion[];
}

/** What deleted printers refer to and leave behind, as it was then: it may be gone when they come back. */
export interface References {
  readonly clients: readonly { readonly id: number; readonly name: string }[];
  readonly drivers: readonly {
    readonly id: number;
    readonly name: string;
    readonly sha256: string;
    /** The INF and the models that the driver was listed with. */
    readonly models: string;
  }[];
}

interface NewDeletion extends DeletedRecord {
  /** Tables, the column of the record's id, and ids. */
  readonly rows: readonly (readonly [DeletedTable, string, readonly number[]])[];
  readonly files: readonly DeletedFile[];
  readonly references?: References;
}

const noReferences: References = { clients: [], drivers: [] };

/**
 * Keeps what a write is about to delete, in that write. A final deletion keeps a row for its files alone, until they are
 * deleted: so a process that is killed in between leaves no file behind.
 */
export function keepDeleted(db: Queries, now: number, deletion: NewDeletion, isFinal: boolean): Removal {
  const { rows, files, references = noReferences } = deletion;
  if (isFinal && files.length === 0) return { kept: undefined, ended: endedIn(db) };
  const { id = null } =
    db.first(
      "INSERT INTO deletions (deleted_at, title, content) VALUES (?, ?, ?) RETURNING id",
      isFinal ? [now, "", ""] : [now, titleOf(deletion), JSON.stringify(references)],
    ) ?? {};
  for (const { kind, sha256 } of files)
    db.all("INSERT OR IGNORE INTO deleted_files VALUES (?, ?, ?)", [id, kind, sha256]);
  if (!isFinal)
    for (const [table, column, ids] of rows)
      db.all(
        `INSERT INTO deleted_${table} SELECT ?, * FROM ${table} WHERE ${column} IN (SELECT value FROM json_each(?))`,
        [id, JSON.stringify(ids)],
      );
  return { kept: isFinal ? undefined : Number(id), ended: endedIn(db) };
}

/** `printer 7 Office` */
function titleOf({ kind, recordId, name }: DeletedRecord): string {
  return `${kind} ${recordId} ${name}`;
}

function keptOf({ id, deleted_at, title }: Row): KeptDeletion {
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

/** A final deletion has no title, and every other one has. */
const isOver = "title = ''";
const columns = "SELECT id, deleted_at, title FROM deletions";

/** Asked inside a write, so that the answer is as lasting as that write. */
function endedIn(db: Queries): EndedDeletion[] {
  const rows = db.all(`SELECT id FROM deletions WHERE ${isOver} ORDER BY id`);
  return rows.map(({ id = null }) => {
    const files = db.all("SELECT kind, sha256 FROM deleted_files WHERE deletion_id = ?", [id]);
    return { id: Number(id), files: files.map(fileOf) };
  });
}

function fileOf(row: Row): DeletedFile {
  return { kind: row.kind === "icons" ? "icons" : "drivers", sha256: digestIn(row) };
}

/** Within a write: forgets the rows that a deletion kept. */
export function forgetRows(db: Queries, id: number): void {
  for (const table of deletedTables) db.all(`DELETE FROM deleted_${table} WHERE deletion_id = ?`, [id]);
}

/** The only SQL of deletions. */
export class Deletions {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** What can be taken back, the latest first. */
  list(): KeptDeletion[] {
    return this.#db.all(`${columns} WHERE NOT ${isOver} ORDER BY id DESC`).map(keptOf);
  }

  find(id: number): KeptDeletion | undefined {
    return this.#db.all(`${columns} WHERE id = ? AND NOT ${isOver}`, [id]).map(keptOf)[0];
  }

  /** The deletion that took a record away and can be taken back. */
  findOf(table: "clients" | "drivers" | "printers", recordId: number): KeptDeletion | undefined {
    const row = this.#db.first(`SELECT deletion_id FROM deleted_${table} WHERE id = ?`, [recordId]);
    return row && this.find(Number(row.deletion_id));
  }

  /** What the printers of a deletion referred to. */
  references(id: number): References {
    const row = this.#db.first("SELECT content FROM deletions WHERE id = ?", [id]);
    return JSON.parse(String(row?.content)) as References;
  }

  /** The digests of the files of one kind that deletions keep, or that are still to be deleted. */
  digests(kind: BlobKind): Set<string> {
    const rows = this.#db.all("SELECT DISTINCT sha256 FROM deleted_files WHERE kind = ?", [kind]);
    return new Set(rows.map(digestIn));
  }

  /** Final deletions whose files may still be there; read where no write is under way. */
  ended(): EndedDeletion[] {
    return endedIn(this.#db);
  }

  /** Whether a deletion besides these needs a file. */
  needsFile({ kind, sha256 }: DeletedFile, besides: { has(id: number): boolean }): boolean {
    const where = "WHERE kind = ? AND sha256 = ?";
    const rows = this.#db.all(`SELECT deletion_id FROM deleted_files ${where}`, [kind, sha256]);
    return rows.some(({ deletion_id }) => !besides.has(Number(deletion_id)));
  }

  /**
   * Makes deletions final, those of them that are still kept.
   * @param isAsked whether a person wants it so before the ten minutes are over
   * @returns how many those were, and all final deletions with their files
   */
  end(
    ids: readonly number[],
    isAsked: boolean,
  ): Promise<{ readonly count: number; readonly ended: readonly EndedDeletion[] }> {
    return this.#db.freeingWrite(() => {
      const kept = ids.flatMap((id) => this.find(id) ?? []);
      for (const deletion of kept) {
        this.#db.all("UPDATE deletions SET title = '', content = '' WHERE id = ?", [deletion.id]);
        forgetRows(this.#db, deletion.id);
        if (isAsked) this.#db.note("deleted-for-good", deletedBy(deletion));
      }
      return { count: kept.length, ended: endedIn(this.#db) };
    });
  }

  /** Forgets a final deletion whose files are gone. */
  async forget(id: number): Promise<void> {
    await this.#db.freeingWrite(() => {
      this.#db.all(`DELETE FROM deletions WHERE id = ? AND ${isOver}`, [id]);
    });
  }

  /** Reads every deletion, as a start does. @throws Error that names the row that cannot be read */
  check(): void {
    for (const row of this.#db.all(`${columns} WHERE NOT ${isOver} ORDER BY id`))
      readable(`the deletion ${row.id}`, () => [keptOf(row), this.references(Number(row.id))]);
    for (const row of this.#db.all("SELECT * FROM deleted_files"))
      readable(`a file of the deletion ${row.deletion_id}`, () => fileOf(row));
  }
}

/** What the audit log says of one: of several printers their name alone. */
function deletedBy({ kind, recordId: id, name }: KeptDeletion): Pick<AuditedEvent, "record" | "what"> {
  return kind === "printers" ? { what: name } : { record: { kind, id, name } };
}
