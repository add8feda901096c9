import { randomBytes } from "node:crypto";
import type { LinkOwner } from "../../domain/access/link.ts";
import { randomText } from "../../domain/secrets.ts";
import type { Database } from "../database/database.ts";
import { type Queries, readRow } from "../database/rows.ts";

/** The only SQL of links. A deleted record keeps its generation, so that revoked links stay revoked after a restore. */
export class LinkGenerations {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** A random text in the signature of every link. Each database has its own, except for copies. */
  epoch(): string {
    return String(this.#db.first("SELECT epoch FROM link_epoch")?.epoch);
  }

  /** The number of times that all links to a record were made invalid. */
  of({ kind, id }: LinkOwner): number {
    const row = this.#db.first("SELECT generation FROM link_generations WHERE kind = ? AND id = ?", [
      kind,
      id,
    ]);
    return Number(row?.generation ?? 0);
  }

  /** Makes all existing links to a record invalid. */
  raise({ kind, id, name }: LinkOwner & { readonly name: string }): Promise<void> {
    return this.#db.write(() => {
      this.#db.recordEvent("links-ended", { record: { kind, id, name } });
      this.#db.all(
        `INSERT INTO link_generations (kind, id, generation) VALUES (?, ?, 1)
          ON CONFLICT DO UPDATE SET generation = generation + 1`,
        [kind, id],
      );
    });
  }

  /** Makes all existing links invalid. */
  endAll(): Promise<void> {
    return this.#db.write(() => this.#db.maintenance(() => endAllLinks(this.#db)));
  }

  /** @throws Error without a valid epoch */
  check(): void {
    readRow("the epoch of links", () => {
      if (!/^[\w-]{22}$/.test(this.epoch())) throw new Error("it is none");
    });
  }
}

/**
 * Within a write: makes all existing links invalid. Does nothing for a database that is older than links: the start
 * gives it an epoch.
 */
export function endAllLinks(db: Queries): void {
  if (db.first("SELECT 1 FROM sqlite_schema WHERE name = 'link_epoch'") === undefined) return;
  db.all("UPDATE link_epoch SET epoch = ?", [randomText(randomBytes, 16)]);
}
