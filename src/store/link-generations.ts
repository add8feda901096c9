import type { LinkOwner } from "../domain/link.ts";
import type { Database } from "./database/database.ts";

/** The only SQL of links. A record that is gone keeps its number, so that what was revoked stays so when it comes back. */
export class LinkGenerations {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
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
  raise({ kind, id }: LinkOwner): Promise<void> {
    return this.#db.write(() => {
      this.#db.all(
        `INSERT INTO link_generations (kind, id, generation) VALUES (?, ?, 1)
          ON CONFLICT DO UPDATE SET generation = generation + 1`,
        [kind, id],
      );
    });
  }
}
