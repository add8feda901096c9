import type { AuditedEvent } from "../domain/audit.ts";
import { type DeletedRecord, deletionKinds, type KeptDeletion } from "../domain/deletion.ts";
import type { BlobKind } from "./blob-names.ts";
import type { Database } from "./database/database.ts";
import { digestIn, type Queries, type Row, readable } from "./database/rows.ts";
import { atOnce } from "./database/slices.ts";
import { contentFrom, contentOf, type DeletedRows, type DeletedTable } from "./deleted-content.ts";

/**
 * So many bytes of deletions are kept at most, since each save writes them: beyond that the oldest are final. Five
 * thousand ordinary printers have 5 MB.
 */
export const mostKeptBytes = 16 * 1024 * 1024;
/** Each deletion counts as so many bytes besides its content: what its rows take, and what showing it costs. */
const bytesBesides = 1024;

/** A file that deleted records had. */
export interface DeletedFile {
  readonly kind: BlobKind;
  readonly sha256: string;
}

/** A deletion that cannot be taken back and whose files may still be there. */
export interface EndedDeletion {
  readonly id: number;
  readonly files: readonly DeletedFile[];
}

/** What a write made of a deletion. */
export interface Removal {
  /** The deletion's id; undefined where it cannot be taken back. */
  readonly kept: number | undefined;
  /** Whose files are to be looked at now, as lasting as the write. */
  readonly ended: readonly EndedDeletion[];
}

/** What is deleted, before it is. */
interface NewDeletion extends DeletedRecord, DeletedRows {
  readonly files: readonly DeletedFile[];
}

/** Rows whose column is one of these numbers. */
export function rowsOf(
  db: Queries,
  table: DeletedTable,
  column: string,
  values: readonly number[],
): readonly Row[] {
  const where = `WHERE ${column} IN (SELECT value FROM json_each(?))`;
  return db.all(`SELECT * FROM ${table} ${where}`, [JSON.stringify(values)]);
}

/** What a column refers to, each once. */
export function idsIn(rows: readonly Row[], column: string): number[] {
  return [...new Set(rows.flatMap((row) => (typeof row[column] === "number" ? row[column] : [])))];
}

/**
 * Keeps what a write is about to delete, in that write. What is final, or too large to be kept, leaves a row for its
 * files alone: they are deleted when the write is on disk, and the row after them, so that none is left behind.
 */
export function keepDeleted(
  db: Queries,
  now: number,
  deletion: NewDeletion,
  options: { readonly isFinal: boolean },
): Removal {
  return atOnce(keepDeletedInParts(db, now, deletion, options));
}

/** The same, where its rows may be thousands. */
function* keepDeletedInParts(
  db: Queries,
  now: number,
  deletion: NewDeletion,
  options: { readonly isFinal: boolean },
): Generator<undefined, Removal> {
  // As bytes, which sql.js copies at once; it would write a text into SQLite's memory character by character.
  const content = options.isFinal ? Buffer.alloc(0) : yield* contentOf(deletion);
  yield;
  const isKept = content.length > 0 && content.length + bytesBesides <= mostKeptBytes;
  if (!isKept && deletion.files.length === 0) return { kept: undefined, ended: endedIn(db) };
  const row = db.first(
    "INSERT INTO deletions (deleted_at, title, content) VALUES (?, ?, CAST(? AS TEXT)) RETURNING id",
    isKept ? [now, titleOf(deletion), content] : [now, "", ""],
  );
  const id = Number(row?.id);
  for (const { kind, sha256 } of deletion.files) {
    db.all("INSERT OR IGNORE INTO deleted_files VALUES (?, ?, ?)", [id, kind, sha256]);
  }
  yield;
  if (isKept) endOldest(db);
  return { kept: isKept ? id : undefined, ended: endedIn(db) };
}

/** `printer 7 Office`: what lists show stands before the content, which may be large. */
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

/** Without a title, a deletion is over: nothing else has none. */
const isOver = "title = ''";
const end = "UPDATE deletions SET title = '', content = ''";

/** The latest alone is never too large: it would not have been kept. */
function endOldest(db: Queries): void {
  const sizes = `SELECT id, octet_length(content) + ${bytesBesides} AS n FROM deletions WHERE NOT ${isOver}`;
  const sums = `SELECT id, sum(n) OVER (ORDER BY id DESC) AS bytes FROM (${sizes})`;
  db.all(`${end} WHERE id IN (SELECT id FROM (${sums}) WHERE bytes > ?)`, [mostKeptBytes]);
}

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

/** The only SQL of what was deleted and can be brought back. */
export class Deletions {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** What can be taken back, the latest first. */
  list(): KeptDeletion[] {
    const columns = "SELECT id, deleted_at, title FROM deletions";
    return this.#db.all(`${columns} WHERE NOT ${isOver} ORDER BY id DESC`).map(keptOf);
  }

  find(id: number): KeptDeletion | undefined {
    const columns = "SELECT id, deleted_at, title FROM deletions";
    return this.#db.all(`${columns} WHERE id = ? AND NOT ${isOver}`, [id]).map(keptOf)[0];
  }

  /** The deletion of one record that can be taken back. */
  findOf(kind: KeptDeletion["kind"], recordId: number): KeptDeletion | undefined {
    const columns = "SELECT id, deleted_at, title FROM deletions";
    const beginning = titleOf({ kind, recordId, name: "" });
    const where = "WHERE substr(title, 1, length(?1)) = ?1 ORDER BY id DESC LIMIT 1";
    return this.#db.all(`${columns} ${where}`, [beginning]).map(keptOf)[0];
  }

  /** The digests of the files of one kind that deletions keep, or whose end they have not seen yet. */
  digests(kind: BlobKind): Set<string> {
    const rows = this.#db.all("SELECT DISTINCT sha256 FROM deleted_files WHERE kind = ?", [kind]);
    return new Set(rows.map(digestIn));
  }

  /** Those that are final and whose files may still be there; read where no write is under way. */
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
   * @param isAsked whether somebody wants it so before their time
   * @returns which, and all that are final with their files
   */
  end(
    ids: readonly number[],
    isAsked: boolean,
  ): Promise<{ readonly now: number[]; readonly ended: readonly EndedDeletion[] }> {
    return this.#db.freeingWrite(() => {
      const kept = ids.flatMap((id) => this.find(id) ?? []);
      for (const deletion of kept) {
        this.#db.all(`${end} WHERE id = ?`, [deletion.id]);
        if (isAsked) this.#db.note("deleted-for-good", deletedBy(deletion));
      }
      const now = kept.map(({ id }) => id);
      return { now, ended: endedIn(this.#db) };
    });
  }

  /** Forgets a final deletion whose files are gone. */
  async forget(id: number): Promise<void> {
    await this.#db.freeingWrite(() => {
      this.#db.all(`DELETE FROM deletions WHERE id = ? AND ${isOver}`, [id]);
    });
  }

  /** Reads every row, as a start does. @throws Error that names the row that cannot be read */
  check(): void {
    for (const { id = null } of this.#db.all(`SELECT id FROM deletions WHERE NOT ${isOver} ORDER BY id`)) {
      const row = this.#db.first("SELECT * FROM deletions WHERE id = ?", [id]);
      readable(`the deletion ${id}`, () => row && [keptOf(row), atOnce(contentFrom(String(row.content)))]);
    }
    for (const row of this.#db.all("SELECT * FROM deleted_files"))
      readable(`a file of the deletion ${row.deletion_id}`, () => fileOf(row));
  }
}

/** What the audit log says of one: of several printers their name alone. */
function deletedBy({ kind, recordId: id, name }: KeptDeletion): Pick<AuditedEvent, "record" | "what"> {
  return kind === "printers" ? { what: name } : { record: { kind, id, name } };
}
