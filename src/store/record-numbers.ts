import type { Database } from "./database/database.ts";

/** The numbers of all records of a kind, and the highest that there ever was. */
interface Numbers {
  readonly ids: readonly number[];
  readonly last: number;
}

/** The only SQL of numbers that records have and had. What Windows brings is no record of anybody's. */
export class RecordNumbers {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  all(): Record<"printers" | "clients" | "drivers", Numbers> {
    return {
      printers: this.#of("printers", ""),
      clients: this.#of("clients", ""),
      drivers: this.#of("drivers", "WHERE origin = 'upload'"),
    };
  }

  #of(table: string, where: string): Numbers {
    const ids = this.#db.all(`SELECT id FROM ${table} ${where} ORDER BY id`).map(({ id }) => Number(id));
    const row = this.#db.first("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]);
    return { ids, last: Math.max(Number(row?.seq ?? 0), ids.at(-1) ?? 0) };
  }
}
