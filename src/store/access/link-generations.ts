import { randomBytes } from "node:crypto";
import type { LinkOwner } from "../../domain/access/link.ts";
import { randomText } from "../../domain/secrets.ts";
import type { Database } from "../database/database.ts";
import { type Queries, readable } from "../database/rows.ts";

/** The only SQL of links. A record that is gone keeps its number, so that what was revoked stays so when it comes back. */
export class LinkGenerations {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** A random text that links of this database are made with: no other one has it, unless it is a copy. */
  epoch(): string {
    return String(this.#db.first("SELECT epoch FROM link_epoch")?.epoch);
  }

  /** How often all links to a record were made invalid. */
  of({ kind, id }: LinkOwner): number {
    const row = this.#db.first("SELECT generation FROM link_generations WHERE kind = ? AND id = ?", [
      kind,
      id,
    ]);
    return Number(row?.generation ?? 0);
  }

  /** Makes all links to a record invalid that were made until now. */
  raise({ kind, id, name }: LinkOwner & { readonly name: string }): Promise<void> {
    return this.#db.write(() => {
      this.#db.note("links-ended", { record: { kind, id, name } });
      this.#db.all(
        `INSERT INTO link_generations (kind, id, generation) VALUES (?, ?, 1)
          ON CONFLICT DO UPDATE SET generation = generation + 1`,
        [kind, id],
      );
    });
  }

  /** Makes all links invalid that there are. */
  endAll(): Promise<void> {
    return this.#db.write(() => this.#db.upkeep(() => endLinks(this.#db)));
  }

  /** @throws Error where there is none */
  check(): void {
    readable("the epoch of links", () => {
      if (!/^[\w-]{22}$/.test(this.epoch())) throw new Error("it is none");
    });
  }
}

/** Within a write: makes all links invalid that there are. A database older than links gets its epoch at the start. */
export function endLinks(db: Queries): void {
  if (db.first("SELECT 1 FROM sqlite_schema WHERE name = 'link_epoch'") === undefined) return;
  db.all("UPDATE link_epoch SET epoch = ?", [randomText(randomBytes, 16)]);
}
