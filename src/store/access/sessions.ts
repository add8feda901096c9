import type { Account, Session } from "../../domain/access/account.ts";
import type { OidcPerson } from "../../domain/access/oidc.ts";
import { UserError } from "../../domain/errors.ts";
import { counted, dayMs } from "../../domain/text.ts";
import type { Database } from "../database/database.ts";
import { digestIn, type Row, readRow } from "../database/rows.ts";
import type { Accounts } from "./accounts.ts";

/** A sign-in that exceeds this number ends the account's least recently used session. */
export const maxPerAccount = 20;

/** How long a session lasts, in milliseconds. */
export const sessionMs = {
  /** Without a request. */
  idle: 30 * dayMs,
  /** Even with requests. */
  longest: 90 * dayMs,
} as const;

interface NewSession {
  /** SHA-256 of the cookie's value, as hexadecimal digits. */
  readonly digest: string;
  /** The digest of the browser's old session, which ends. */
  readonly previousDigest?: string | undefined;
  readonly address: string;
  readonly browser: string;
  /** How long it lasts: `longest` by default. In milliseconds. */
  readonly ms?: number;
}

/** The SQL condition of sessions that have not expired. Its two parameters come from `#activeSince`. */
const activeCondition = "ends_at > ? AND seen_at > ?";

/** All SQL about sessions. */
export class Sessions {
  readonly #db: Database;
  readonly #clock: () => number;
  readonly #accounts: Accounts;

  constructor(db: Database, clock: () => number, accounts: Accounts) {
    this.#db = db;
    this.#clock = clock;
    this.#accounts = accounts;
  }

  /** The session with this cookie digest, and its account; undefined if it has ended or the account is disabled. */
  find(digest: string): { readonly session: Session; readonly account: Account } | undefined {
    const row = this.#db.first(`SELECT * FROM sessions WHERE sha256 = ? AND ${activeCondition}`, [
      digest,
      ...this.#activeSince(),
    ]);
    if (row === undefined) return undefined;
    const session = sessionOf(row);
    const account = this.#accounts.get(session.account_id);
    return account.isDisabled ? undefined : { session, account };
  }

  /** The account's sessions, the most recently used one first. */
  ofAccount(id: number): Session[] {
    const rows = this.#db.all(
      `SELECT * FROM sessions WHERE account_id = ? AND ${activeCondition} ORDER BY seen_at DESC, id DESC`,
      [id, ...this.#activeSince()],
    );
    return rows.map(sessionOf);
  }

  /**
   * Begins a session after a password was compared with the hash `verified`.
   * Works on a full disk too, where an administrator must sign in to delete records.
   * @returns false if the account was deleted, disabled or got another password meanwhile
   */
  add({ id }: Account, verified: string, session: NewSession): Promise<boolean> {
    return this.#db.freeingWrite(() => {
      const sql = "SELECT id FROM accounts WHERE id = ? AND password_hash = ? AND disabled = 0";
      if (this.#db.first(sql, [id, verified]) === undefined) return false;
      this.#begin(id, session);
      return true;
    });
  }

  /**
   * Saves a person whom a provider authenticated, and begins a session if they have access. Also works on a full disk.
   * @returns undefined for a person without a role; no session begins for a disabled account
   */
  addPerson(person: OidcPerson, session: NewSession): Promise<Account | undefined> {
    return this.#db.freeingWrite(() => {
      const account = this.#accounts.savePerson(person);
      if (account?.isDisabled === false) this.#begin(account.id, session);
      return account;
    });
  }

  #begin(
    accountId: number,
    { digest, previousDigest, address, browser, ms = sessionMs.longest }: NewSession,
  ): void {
    const now = this.#clock();
    this.#db.recordEvent("signed-in", {});
    this.#db.all(`DELETE FROM sessions WHERE NOT (${activeCondition})`, this.#activeSince());
    if (previousDigest !== undefined) this.#db.all("DELETE FROM sessions WHERE sha256 = ?", [previousDigest]);
    this.#db.all(
      `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE account_id = ?
        ORDER BY seen_at DESC, id DESC LIMIT -1 OFFSET ?)`,
      [accountId, maxPerAccount - 1],
    );
    this.#db.all(
      `INSERT INTO sessions (account_id, sha256, created_at, seen_at, ends_at, address, browser)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
      [accountId, digest, now, now, now + ms, address, browser],
    );
    this.#db.all("UPDATE accounts SET seen_at = ? WHERE id = ?", [now, accountId]);
  }

  /**
   * Changes the password of a session's account. The account's other sessions end, and this one gets a new cookie.
   * @param change `verified` is the hash that the current password was compared with; `digest` is of the new cookie
   * @throws UserError "stale" when the account was changed meanwhile
   */
  changePassword(
    { id, account_id }: Session,
    change: { readonly verified: string; readonly hash: string; readonly digest: string },
  ): Promise<void> {
    return this.#db.write(() => {
      const now = this.#clock();
      const changed = this.#db.first(
        `UPDATE accounts SET password_hash = ?, one_time = 0, password_at = ?
          WHERE id = ? AND password_hash = ? AND disabled = 0 RETURNING id`,
        [change.hash, now, account_id, change.verified],
      );
      if (changed === undefined)
        throw new UserError("stale", "The account was changed meanwhile. Sign in again.");
      this.#db.all("DELETE FROM sessions WHERE account_id = ? AND id <> ?", [account_id, id]);
      this.#db.all("UPDATE sessions SET sha256 = ? WHERE id = ?", [change.digest, id]);
    });
  }

  /** Ends a session at sign-out. */
  end(accountId: number, id: number): Promise<void> {
    return this.#db.write(() => {
      this.#db.recordEvent("signed-out", {});
      this.#db.all("DELETE FROM sessions WHERE account_id = ? AND id = ?", [accountId, id]);
    });
  }

  /** Ends a session from another browser, or all but one. The audit log records it. */
  endElsewhere(accountId: number, condition: "id = ?" | "id <> ?", id: number): Promise<void> {
    return this.#db.write(() => {
      const sql = `DELETE FROM sessions WHERE account_id = ? AND ${condition} RETURNING id`;
      const { length } = this.#db.all(sql, [accountId, id]);
      if (length > 0) this.#db.recordEvent("sessions-ended", { what: counted(length, "browser") });
    });
  }

  /** Records the last use of a session and its account. @param at UTC, milliseconds since 1970 */
  recordUse(id: number, at: number): Promise<void> {
    return this.#db.write(() => {
      this.#db.all("UPDATE sessions SET seen_at = ? WHERE id = ?", [at, id]);
      this.#db.all(
        "UPDATE accounts SET seen_at = max(seen_at, ?) WHERE id = (SELECT account_id FROM sessions WHERE id = ?)",
        [at, id],
      );
    });
  }

  /** Reads every row, at the service's start. @throws Error that names the row that cannot be read */
  check(): void {
    for (const row of this.#db.all("SELECT * FROM sessions ORDER BY id"))
      readRow(`the session ${row.id}`, () => [sessionOf(row), digestIn(row)]);
  }

  #activeSince(): [number, number] {
    const now = this.#clock();
    return [now, now - sessionMs.idle];
  }
}

function sessionOf(row: Row): Session {
  return {
    id: Number(row.id),
    account_id: Number(row.account_id),
    created_at: Number(row.created_at),
    seen_at: Number(row.seen_at),
    address: String(row.address),
    browser: String(row.browser),
  };
}
