import type { Account, Session } from "../../domain/access/account.ts";
import { UserError } from "../../domain/errors.ts";
import { counted, dayMs } from "../../domain/text.ts";
import type { Database } from "../database/database.ts";
import { digestIn, type Row, readable } from "../database/rows.ts";
import type { Accounts } from "./accounts.ts";

/** One account has so many; then the least recently used one ends. */
export const maxPerAccount = 20;

/** How long a session lasts, in milliseconds. */
export const sessionMs = {
  /** Without being used. */
  idle: 30 * dayMs,
  /** However much it is used. */
  longest: 90 * dayMs,
} as const;

/** A session that begins, where the account still has the password that was verified. */
interface NewSession {
  readonly account: Account;
  /** The hash that the password fitted. */
  readonly verified: string;
  /** SHA-256 of what the cookie holds, as hexadecimal digits. */
  readonly digest: string;
  /** Of the session that the browser had before, which ends. */
  readonly before?: string | undefined;
  readonly address: string;
  readonly browser: string;
}

/** The condition of sessions that are not over: they began, and were used, after some time. */
const lasting = "created_at > ? AND seen_at > ?";

/** The sessions' only SQL. */
export class Sessions {
  readonly #db: Database;
  readonly #clock: () => number;
  readonly #accounts: Accounts;

  constructor(db: Database, clock: () => number, accounts: Accounts) {
    this.#db = db;
    this.#clock = clock;
    this.#accounts = accounts;
  }

  /** The session with a cookie's digest, and whose it is; undefined where it is over or the account is disabled. */
  find(digest: string): { readonly session: Session; readonly account: Account } | undefined {
    const row = this.#db.first(`SELECT * FROM sessions WHERE sha256 = ? AND ${lasting}`, [
      digest,
      ...this.#since(),
    ]);
    if (row === undefined) return undefined;
    const session = sessionOf(row);
    const account = this.#accounts.get(session.account_id);
    return account.isDisabled ? undefined : { session, account };
  }

  /** Those of an account, the one that was used last first. */
  ofAccount(id: number): Session[] {
    const rows = this.#db.all(
      `SELECT * FROM sessions WHERE account_id = ? AND ${lasting} ORDER BY seen_at DESC, id DESC`,
      [id, ...this.#since()],
    );
    return rows.map(sessionOf);
  }

  /**
   * Saved on a full disk too: who cannot sign in cannot make room.
   * @returns whether it began; it does not where the account was disabled or got another password meanwhile
   */
  add({ account, verified, digest, before, address, browser }: NewSession): Promise<boolean> {
    return this.#db.freeingWrite(() => {
      const now = this.#clock();
      this.#db.all(`DELETE FROM sessions WHERE NOT (${lasting})`, this.#since());
      const row = this.#db.first(
        "SELECT id FROM accounts WHERE id = ? AND password_hash = ? AND disabled = 0",
        [account.id, verified],
      );
      if (row === undefined) return false;
      if (before !== undefined) this.#db.all("DELETE FROM sessions WHERE sha256 = ?", [before]);
      this.#db.all(
        `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE account_id = ?
          ORDER BY seen_at DESC, id DESC LIMIT -1 OFFSET ?)`,
        [account.id, maxPerAccount - 1],
      );
      this.#db.all(
        `INSERT INTO sessions (account_id, sha256, created_at, seen_at, address, browser)
          VALUES (?, ?, ?, ?, ?, ?)`,
        [account.id, digest, now, now, address, browser],
      );
      this.#db.all("UPDATE accounts SET seen_at = ? WHERE id = ?", [now, account.id]);
      return true;
    });
  }

  /**
   * Gives an account a password of its owner's choice: all its sessions end but this one, which gets another cookie.
   * @param verified the hash that the password until now fitted
   * @throws UserError "stale" when it was changed meanwhile
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
        throw new UserError("stale", "The account was changed meanwhile: sign in again.");
      this.#db.all("DELETE FROM sessions WHERE account_id = ? AND id <> ?", [account_id, id]);
      this.#db.all("UPDATE sessions SET sha256 = ? WHERE id = ?", [change.digest, id]);
    });
  }

  /** Ends the session of who signs out. */
  end(accountId: number, id: number): Promise<void> {
    return this.#db.write(() => {
      this.#db.all("DELETE FROM sessions WHERE account_id = ? AND id = ?", [accountId, id]);
    });
  }

  /** Ends one session of an account, which its owner has in another browser. */
  endElsewhere(accountId: number, id: number): Promise<void> {
    return this.#endElsewhere("id = ?", accountId, id);
  }

  /** Ends all of an account but one. */
  endOthers(accountId: number, id: number): Promise<void> {
    return this.#endElsewhere("id <> ?", accountId, id);
  }

  #endElsewhere(which: string, accountId: number, id: number): Promise<void> {
    return this.#db.write(() => {
      const sql = `DELETE FROM sessions WHERE account_id = ? AND ${which} RETURNING id`;
      const { length } = this.#db.all(sql, [accountId, id]);
      if (length > 0) this.#db.note("sessions-ended", { what: counted(length, "browser") });
    });
  }

  /** A session was used, and with it its account. @param at UTC, milliseconds since 1970 */
  seen(id: number, at: number): Promise<void> {
    return this.#db.write(() => {
      this.#db.all("UPDATE sessions SET seen_at = ? WHERE id = ?", [at, id]);
      this.#db.all(
        "UPDATE accounts SET seen_at = max(seen_at, ?) WHERE id = (SELECT account_id FROM sessions WHERE id = ?)",
        [at, id],
      );
    });
  }

  /** Reads every row, as a start does. @throws Error that names the row that cannot be read */
  check(): void {
    for (const row of this.#db.all("SELECT * FROM sessions ORDER BY id"))
      readable(`the session ${row.id}`, () => [sessionOf(row), digestIn(row)]);
  }

  /** The two parameters of `lasting`. */
  #since(): [number, number] {
    const now = this.#clock();
    return [now - sessionMs.longest, now - sessionMs.idle];
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
