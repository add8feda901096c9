import type { Scope } from "../../domain/access/access.ts";
import { parseScope, type Token } from "../../domain/access/token.ts";
import { UserError } from "../../domain/errors.ts";
import type { Database } from "../database/database.ts";
import { type Row, readRow } from "../database/rows.ts";
import { endLinksBy } from "./links.ts";

type NewToken = Pick<Token, "name" | "scope" | "beginning" | "made_by" | "expires_at"> & {
  readonly sha256: string;
};

/** One page lists all tokens. */
export const maxTokens = 500;

/** All SQL about tokens. */
export class Tokens {
  readonly #db: Database;
  readonly #clock: () => number;

  constructor(db: Database, clock: () => number) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Reads every row, at the service's start. @throws Error that names the row that cannot be read */
  check(): void {
    this.list();
  }

  /** Newest first. */
  list(): Token[] {
    const rows = this.#db.all("SELECT * FROM tokens ORDER BY id DESC");
    return rows.map((row) => readRow(`the token ${row.id}`, () => tokenOf(row)));
  }

  /** @param sha256 the token's digest; the time that this search takes reveals nothing about tokens */
  find(sha256: string): Token | undefined {
    const row = this.#db.first("SELECT * FROM tokens WHERE sha256 = ?", [sha256]);
    return row && tokenOf(row);
  }

  /** @throws UserError "not-found" */
  get(id: number): Token {
    const token = this.findById(id);
    if (token === undefined)
      throw new UserError("not-found", "This token does not exist. It may have been revoked.");
    return token;
  }

  findById(id: number): Token | undefined {
    const row = this.#db.first("SELECT * FROM tokens WHERE id = ?", [id]);
    return row && tokenOf(row);
  }

  /** @throws UserError "invalid" if the client or printer was deleted, "conflict" beyond `maxTokens` */
  add({ name, scope, sha256, beginning, made_by, expires_at }: NewToken): Promise<number> {
    return this.#db.write(() => {
      const count = Number(this.#db.first("SELECT count(*) AS n FROM tokens")?.n);
      if (count >= maxTokens)
        throw new UserError("conflict", `The limit of ${maxTokens} tokens is reached. Revoke one first.`);
      const id = "id" in scope ? scope.id : null;
      if ("id" in scope) this.#require(scope.kind, scope.id);
      const row = this.#db.first(
        `INSERT INTO tokens (name, scope, scope_id, sha256, beginning, made_by, created_at, expires_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
        [name, scope.kind, id, sha256, beginning, made_by, this.#clock(), expires_at],
      );
      return Number(row?.id);
    });
  }

  /** Also ends its links. */
  remove(id: number): Promise<void> {
    return this.#db.freeingWrite(() => {
      this.#db.all("DELETE FROM tokens WHERE id = ?", [id]);
      endLinksBy(this.#db, "token", id);
    });
  }

  /** @param at UTC, milliseconds since 1970 @param from the sender's network address */
  recordUse(id: number, at: number, from: string): Promise<void> {
    return this.#db.write(() => {
      this.#db.all("UPDATE tokens SET used_at = ?, used_from = ? WHERE id = ?", [at, from, id]);
    });
  }

  #require(kind: Scope["kind"], id: number): void {
    const table = kind === "client" ? "clients" : "printers";
    if (this.#db.first(`SELECT 1 FROM ${table} WHERE id = ?`, [id]) !== undefined) return;
    const message = `The ${kind} ${id} no longer exists. Choose another.`;
    throw new UserError("invalid", message, { scope: message });
  }
}

function tokenOf(row: Row): Token {
  const { id, name, scope_id, beginning, made_by, created_at, expires_at, used_at, used_from } = row;
  const scope = parseScope(scope_id === null ? String(row.scope) : `${row.scope}:${scope_id}`);
  if (scope === undefined) throw new Error("its scope is unknown");
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
