import { type AuditEntry, type AuditedEvent, entryHead, readEntry } from "../../domain/audit/audit.ts";
import { zeroHash } from "../../domain/audit/audit-chain.ts";
import { packText, type Queries, type Row, readRow, unpackText } from "../database/rows.ts";
import type { AuditPlace } from "./writer.ts";

/**
 * Places of the audit log that the database stores: the last line, the last line removed because of its age, and the last line
 * whose downloads are counted.
 */
const placeNames = ["head", "start", "counted"] as const;
type PlaceName = (typeof placeNames)[number];

/** An entry with the number of its change. */
type NumberedChange = AuditEntry & { readonly change: number };

/** The place before the first line. */
export const noPlace: AuditPlace = { seq: 0, hash: zeroHash, file: "", size: 0 };

/** The most changes in one row. `after` returns about as many. */
const maxChangesPerRow = 1000;

/** Changes that the audit log may not have yet, and the places of the log that the database stores. */
export class Changes {
  readonly #db: Queries;

  constructor(db: Queries) {
    this.#db = db;
  }

  /** The next changes after `change`, in whole rows. @param change the number of the last change in a row, or 0 */
  after(change: number): NumberedChange[] {
    const next = "(SELECT min(first) FROM changes WHERE first > ?1)";
    const where = `WHERE first > ?1 AND first < ${next} + ${maxChangesPerRow}`;
    return this.#db.all(`SELECT * FROM changes ${where} ORDER BY first`, [change]).flatMap(changesOf);
  }

  has(change: number): boolean {
    return this.#db.first("SELECT 1 FROM changes WHERE first <= ?1 AND last >= ?1", [change]) !== undefined;
  }

  /** The number of the last change; 0 when there is none. */
  last(): number {
    return Number(this.#db.first("SELECT max(last) AS last FROM changes")?.last ?? 0);
  }

  place(name: PlaceName): AuditPlace | undefined {
    const row = this.#db.first("SELECT * FROM audit_places WHERE name = ?", [name]);
    if (row === undefined) return undefined;
    const { seq, hash, file, size } = row;
    return { seq: Number(seq), hash: String(hash), file: String(file), size: Number(size) };
  }

  /** Within a write. */
  setPlace(name: PlaceName, { seq, hash, file, size }: AuditPlace): void {
    const put = "INSERT OR REPLACE INTO audit_places (name, seq, hash, file, size) VALUES (?, ?, ?, ?, ?)";
    this.#db.all(put, [name, seq, hash, file, size]);
  }

  /** Within a write: keeps these events until the log has them. @param first the number of the first event */
  keep(first: number, events: readonly AuditedEvent[]): void {
    for (let at = 0; at < events.length; at += maxChangesPerRow)
      this.#keepRow(first + at, events.slice(at, at + maxChangesPerRow));
  }

  #keepRow(first: number, events: readonly AuditedEvent[]): void {
    const lines = events.map((event, i) => `${entryHead({ ...event, seq: first + i, change: first + i })}}`);
    // As bytes, because sql.js copies a string character by character.
    const content = Buffer.from(packText(lines.join("\n")));
    const values = [first, first + events.length - 1, content];
    this.#db.all("INSERT INTO changes (first, last, content) VALUES (?, ?, CAST(? AS TEXT))", values);
  }

  /** Within a write: deletes the rows that the log has completely. @param last the number of the log's last change */
  forget(last: number): void {
    this.#db.all("DELETE FROM changes WHERE last <= ?", [last]);
  }

  /** Reads every row, as a start does. @throws Error naming the row that cannot be read */
  check(): void {
    for (const row of this.#db.all("SELECT * FROM changes ORDER BY first"))
      readRow(`the changes from ${row.first} on`, () => changesOf(row));
    for (const name of placeNames)
      readRow(`the place “${name}” of the audit log`, () => checkPlace(this.place(name)));
  }
}

/** The changes that are on disk, which the log may write. */
export type SavedChanges = Pick<Changes, "after">;

/** @throws Error when the text differs from what `keep` writes */
function changesOf({ first, last, content }: Row): NumberedChange[] {
  const lines = unpackText(String(content)).split("\n");
  if (lines.length !== Number(last) - Number(first) + 1) throw new Error("their number is wrong");
  return lines.map((line, i) => {
    const entry = readEntry(line);
    if (entry === undefined) throw new Error("it does not say what was changed");
    return { ...entry, change: Number(first) + i };
  });
}

function checkPlace(place: AuditPlace | undefined): void {
  if (place === undefined) return;
  const { seq, hash, file, size } = place;
  const isSound =
    seq >= 0 && size >= 0 && /^(?:[0-9a-f]{64})?$/.test(hash) && /^(?:\d{4}-\d{2}\.jsonl)?$/.test(file);
  if (!isSound) throw new Error("it is none");
}
