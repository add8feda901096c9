import { randomBytes } from "node:crypto";
import type { LinkOwner } from "../../domain/access/link.ts";
import { randomText } from "../../domain/secrets.ts";
import type { Database } from "../database/database.ts";
import { type Queries, readRow } from "../database/rows.ts";

/** All SQL about links. A deleted record keeps its generation, so that revoked links stay revoked after a restore. */
export class LinkGenerations {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** A random text that the signature of every link includes. Each new database gets its own. */
  epoch(): string {
    return String(this.#db.first("SELECT epoch FROM link_epoch")?.epoch);
  }

  /** How many times the links to a record were revoked. The signature of a link includes this number. */
  of({ kind, id }: LinkOwner): number {
    const row = this.#db.first("SELECT generation FROM link_generations WHERE kind = ? AND id = ?", [
      kind,
      id,
    ]);
    return Number(row?.generation ?? 0);
  }

  /** Makes the existing links to a record invalid. */
  revoke({ kind, id, name }: LinkOwner & { readonly name: string }): Promise<void> {
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
  revokeAll(): Promise<void> {
    return this.#db.write(() => this.#db.maintenance(() => revokeAllLinks(this.#db)));
  }

  /** @throws Error without a valid epoch */
  check(): void {
    readRow("the epoch of links", () => {
      if (!/^[\w-]{22}$/.test(this.epoch())) throw new Error("it is none");
    });
  }
}

/** Makes all existing links invalid. A database from before links has no epoch; a migration adds a new one. */
export function revokeAllLinks(db: Queries): void {
  if (db.first("SELECT 1 FROM sqlite_schema WHERE name = 'link_epoch'") === undefined) return;
  db.all("UPDATE link_epoch SET epoch = ?", [randomText(randomBytes, 16)]);
}
