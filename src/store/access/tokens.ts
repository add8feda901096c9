import type { Scope } from "../../domain/access/access.ts";
import { scopeIn, type Token } from "../../domain/access/token.ts";
import { UserError } from "../../domain/errors.ts";
import type { Database } from "../database/database.ts";
import { type Row, readable } from "../database/rows.ts";

/** A token to be kept. */
type AddedToken = Pick<Token, "name" | "scope" | "beginning" | "made_by" | "expires_at"> & {
  readonly sha256: string;
};

/** More of them nobody could oversee. */
export const maxTokens = 500;

/** The tokens' only SQL. */
export class Tokens {
  readonly #db: Database;
  readonly #clock: () => number;

  constructor(db: Database, clock: () => number) {
    this.#db = db;
    this.#clock = clock;
  }

  /** @throws Error that names the row which cannot be read */
  check(): void {
    this.list();
  }

  /** The newest first. */
  list(): Token[] {
    const rows = this.#db.all("SELECT * FROM tokens ORDER BY id DESC");
    return rows.map((row) => readable(`the token ${row.id}`, () => tokenOf(row)));
  }

  /** @param sha256 of its text: whoever tries others learns nothing from how long this takes */
  find(sha256: string): Token | undefined {
    const row = this.#db.first("SELECT * FROM tokens WHERE sha256 = ?", [sha256]);
    return row && tokenOf(row);
  }

  /** @throws UserError "not-found" */
  get(id: number): Token {
    const token = this.findById(id);
    if (token === undefined) throw new UserError("not-found", "There is no such token: it was revoked.");
    return token;
  }

  findById(id: number): Token | undefined {
    const row = this.#db.first("SELECT * FROM tokens WHERE id = ?", [id]);
    return row && tokenOf(row);
  }

  /** @throws UserError "invalid" where the client or the printer is gone, "conflict" where there are too many */
  add({ name, scope, sha256, beginning, made_by, expires_at }: AddedToken): Promise<number> {
    return this.#db.write(() => {
      const count = Number(this.#db.first("SELECT count(*) AS n FROM tokens")?.n);
      if (count >= maxTokens)
        throw new UserError("conflict", `There are ${maxTokens} tokens already: revoke one first.`);
      const id = scope.kind === "read" ? null : scope.id;
      if (id !== null) this.#require(scope.kind, id);
      const row = this.#db.first(
        `INSERT INTO tokens (name, scope, scope_id, sha256, beginning, made_by, created_at, expires_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
        [name, scope.kind, id, sha256, beginning, made_by, this.#clock(), expires_at],
      );
      return Number(row?.id);
    });
  }

  /** From then on it reaches nothing. */
  remove(id: number): Promise<void> {
    return this.#db.freeingWrite(() => {
      this.#db.all("DELETE FROM tokens WHERE id = ?", [id]);
    });
  }

  /** @param at when it was used, UTC, milliseconds since 1970 @param from the address that it was used from */
  used(id: number, at: number, from: string): Promise<void> {
    return this.#db.write(() => {
      this.#db.all("UPDATE tokens SET used_at = ?, used_from = ? WHERE id = ?", [at, from, id]);
    });
  }

  #require(kind: Scope["kind"], id: number): void {
    const table = kind === "client" ? "clients" : "printers";
    if (this.#db.first(`SELECT 1 FROM ${table} WHERE id = ?`, [id]) !== undefined) return;
    const message = `There is no ${kind} ${id} any more.`;
    throw new UserError("invalid", message, { scope: message });
  }
}

function tokenOf(row: Row): Token {
  const { id, name, scope_id, beginning, made_by, created_at, expires_at, used_at, used_from } = row;
  const scope = scopeIn(scope_id === null ? String(row.scope) : `${row.scope}:${scope_id}`);
  if (scope === undefined) throw new Error("nobody knows what it reaches");
  return {
    id: Number(id),
    name: String(name),
    scope,
    beginning: String(beginning),
    made_by: String(made_by),
    created_at: Number(created_at),
    expires_at: Number(expires_at),
    used_at: typeof used_at === "number" ? used_at : undefined,
    used_from: String(used_from),
  };
}
