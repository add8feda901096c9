import { type Role, roles } from "../../domain/access/access.ts";
import { type Account, type AccountRole, accountNameKey, adminName } from "../../domain/access/account.ts";
import type { OidcPerson } from "../../domain/access/oidc.ts";
import { missingRecord, UserError } from "../../domain/errors.ts";
import type { Database } from "../database/database.ts";
import { type Row, readRow } from "../database/rows.ts";
import { checkRoom } from "../record-limits.ts";
import { endLinksOfAccount } from "./links.ts";

/** Saved instead of a password hash when an account has no password. */
export const noHash = "";

/**
 * All SQL about accounts, also of people who sign in at a provider. Disabling or deleting an account or changing its
 * password also ends its sessions. Deleting it ends its links.
 */
export class Accounts {
  readonly #db: Database;
  readonly #clock: () => number;

  constructor(db: Database, clock: () => number) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Sorted by name, the administrator first, and people of a provider last. */
  list(): Account[] {
    return this.#db
      .all("SELECT * FROM accounts ORDER BY issuer, role <> 'admin', name COLLATE NOCASE, id")
      .map(accountOf);
  }

  /** @throws UserError "not-found" */
  get(id: number): Account {
    const account = this.find(id);
    if (account === undefined) throw missingRecord("Account", id);
    return account;
  }

  find(id: number): Account | undefined {
    const row = this.#db.first("SELECT * FROM accounts WHERE id = ?", [id]);
    return row && accountOf(row);
  }

  /** @param name in any case @returns the account with its password hash; nobody of a provider */
  findByName(name: string): { readonly account: Account; readonly hash: string } | undefined {
    const sql = "SELECT * FROM accounts WHERE name_key = ? AND issuer = ''";
    const row = this.#db.first(sql, [accountNameKey(name)]);
    return row && { account: accountOf(row), hash: String(row.password_hash) };
  }

  /**
   * @param oneTimeHash of a one-time password; omit it for an account that signs in only through a proxy
   * @throws UserError "conflict" when the name is taken, in any case, or "full"
   */
  add(name: string, role: AccountRole, oneTimeHash = noHash): Promise<number> {
    return this.#db.write(() => this.#insert(name, role, oneTimeHash, oneTimeHash !== noHash));
  }

  /** @throws UserError "not-found", or "forbidden" for the administrator and people of a provider */
  setRole(id: number, role: AccountRole): Promise<void> {
    const sql = "UPDATE accounts SET role = ? WHERE id = ?";
    return this.#change(id, () => this.#db.all(sql, [role, id]), true);
  }

  /** @throws UserError "not-found", or "forbidden" for the administrator */
  setDisabled(id: number, isDisabled: boolean): Promise<void> {
    return this.#change(id, () => {
      this.#db.all("UPDATE accounts SET disabled = ? WHERE id = ?", [Number(isDisabled), id]);
      if (isDisabled) this.#endSessions(id);
    });
  }

  /** Ends the sessions of an account, and the links that it made. @throws UserError "not-found" */
  endAccess(id: number): Promise<void> {
    return this.#db.freeingWrite(() => {
      const { name } = this.get(id);
      this.#endSessions(id);
      endLinksOfAccount(this.#db, id);
      this.#db.recordEvent("sessions-ended", {
        record: { kind: "account", id, name },
        what: "all, and all links",
      });
    });
  }

  /**
   * Within a write: saves the name and role that a provider gives a person. Without a role, they are deleted.
   * @returns the account; undefined for a person without a role @throws UserError "full"
   */
  savePerson({ issuer, sub, name, role }: OidcPerson): Account | undefined {
    // No account's name has a blank.
    const key = `${issuer} ${sub}`;
    if (role === undefined) {
      // Whoever is disabled stays so, also if they get a role again.
      const gone = this.#db.first("SELECT id FROM accounts WHERE name_key = ? AND disabled = 0", [key]);
      if (gone !== undefined) this.#remove(Number(gone.id));
      return undefined;
    }
    const now = this.#clock();
    const row = this.#db.first(
      `INSERT INTO accounts (name, name_key, role, issuer, password_hash, one_time, disabled, created_at, password_at, seen_at)
        VALUES (?, ?, ?, ?, '', 0, 0, ?, 0, 0)
        ON CONFLICT (name_key) DO UPDATE SET name = excluded.name, role = excluded.role RETURNING *`,
      [name, key, role, issuer, now],
    );
    // The database may have been full since an earlier sign-in: people must get in to delete records.
    if (row?.seen_at === 0) checkRoom(this.#db);
    return row && accountOf(row);
  }

  /** @throws UserError "not-found", or "forbidden" for the administrator and people of a provider */
  setOneTimePassword(id: number, hash: string): Promise<void> {
    return this.#change(id, () => this.#renewPassword(id, hash, true), true);
  }

  /** @throws UserError "not-found", or "forbidden" for the administrator */
  remove(id: number): Promise<void> {
    return this.#change(id, () => this.#remove(id));
  }

  /** Changes the administrator's password and ends their sessions. Makes the account on the first call. */
  setAdminPassword(hash: string): Promise<void> {
    return this.#db.write(() => {
      const known = this.#db.first("SELECT id FROM accounts WHERE name_key = ?", [adminName]);
      if (known === undefined) this.#insert(adminName, "admin", hash, false);
      else this.#renewPassword(Number(known.id), hash, false);
    });
  }

  /** @param at UTC, milliseconds since 1970 */
  recordUse(id: number, at: number): Promise<void> {
    return this.#db.write(() => {
      this.#db.all("UPDATE accounts SET seen_at = ? WHERE id = ?", [at, id]);
    });
  }

  /** Reads every row, at the service's start. @throws Error that names the row that cannot be read */
  check(): void {
    for (const row of this.#db.all("SELECT * FROM accounts ORDER BY id"))
      readRow(`the account ${row.id}`, () => accountOf(row));
  }

  #insert(name: string, role: Role, hash: string, isOneTime: boolean): number {
    const key = accountNameKey(name);
    const taken = this.#db.first("SELECT name FROM accounts WHERE name_key = ?", [key]);
    if (taken !== undefined) {
      const message = `Account “${taken.name}” already exists. Choose another name.`;
      throw new UserError("conflict", message, { name: message });
    }
    const now = this.#clock();
    const row = this.#db.first(
      `INSERT INTO accounts (name, name_key, role, password_hash, one_time, disabled, created_at, password_at, seen_at)
        VALUES (?, ?, ?, ?, ?, 0, ?, ?, 0) RETURNING id`,
      [name, key, role, hash, Number(isOneTime), now, now],
    );
    checkRoom(this.#db);
    return Number(row?.id);
  }

  /** Changes an account other than the administrator's. @param isOwn whether the account must be one that Platen made */
  #change(id: number, update: () => unknown, isOwn = false): Promise<void> {
    return this.#db.write(() => {
      const { role, issuer } = this.get(id);
      if (issuer === "" ? role === "admin" : isOwn) {
        const where =
          issuer === "" ? "ADMIN_PASSWORD_FILE and restart Platen" : "the person’s groups at the provider";
        throw new UserError("forbidden", `This account cannot be changed here. Change ${where}.`);
      }
      update();
    });
  }

  #remove(id: number): void {
    endLinksOfAccount(this.#db, id);
    this.#db.all("DELETE FROM accounts WHERE id = ?", [id]);
  }

  /** Changes a password, and ends the account's sessions. */
  #renewPassword(id: number, hash: string, isOneTime: boolean): void {
    this.#db.all("UPDATE accounts SET password_hash = ?, one_time = ?, password_at = ? WHERE id = ?", [
      hash,
      Number(isOneTime),
      this.#clock(),
      id,
    ]);
    this.#endSessions(id);
  }

  #endSessions(id: number): void {
    this.#db.all("DELETE FROM sessions WHERE account_id = ?", [id]);
  }
}

/** @throws Error for an unknown role */
function accountOf(row: Row): Account {
  return {
    id: Number(row.id),
    name: String(row.name),
    role: roleOf(row),
    issuer: String(row.issuer),
    hasOneTimePassword: Number(row.one_time) !== 0,
    isDisabled: Number(row.disabled) !== 0,
    created_at: Number(row.created_at),
    password_at: Number(row.password_at),
    seen_at: Number(row.seen_at),
  };
}

/** @throws Error for an unknown role, and for an account of Platen's with the role `admin` and another name */
function roleOf({ role, name_key, issuer }: Row): Role {
  const found = roles.find((known) => known === role);
  if (found === undefined) throw new Error("its role is unknown");
  if (issuer === "" && (found === "admin") !== (name_key === adminName))
    throw new Error("its role does not match its name");
  return found;
}
