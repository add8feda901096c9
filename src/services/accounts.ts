import type { AccountRole } from "../domain/account.ts";
import type { Store } from "../store/store.ts";
import { noHash, type Passwords } from "./passwords.ts";

/** Without characters that look like others. */
const alphabet = "abcdefghijkmnpqrstuvwxyz23456789";
const groups = 4;
const groupLength = 5;

/** Makes accounts whose first password is made here, and is to be changed. */
export class Accounts {
  readonly #store: Store;
  readonly #passwords: Passwords;
  readonly #random: (bytes: number) => Buffer;

  constructor(store: Store, passwords: Passwords, random: (bytes: number) => Buffer) {
    this.#store = store;
    this.#passwords = passwords;
    this.#random = random;
  }

  /** @returns the account and its one-time password, which is kept nowhere. @throws UserError "conflict" */
  async add(name: string, role: AccountRole): Promise<{ readonly id: number; readonly password: string }> {
    const password = this.#newPassword();
    const hash = await this.#passwords.hash(password);
    return { id: await this.#store.accounts.add(name, role, { hash, isOneTime: true }), password };
  }

  /** For who signs in at a proxy: nothing fits until a one-time password is made. @throws UserError "conflict" */
  addWithoutPassword(name: string, role: AccountRole): Promise<number> {
    return this.#store.accounts.add(name, role, { hash: noHash, isOneTime: false });
  }

  /** Gives an account another one-time password. @throws UserError "not-found" or "forbidden" */
  async resetPassword(id: number): Promise<string> {
    this.#store.accounts.get(id);
    const password = this.#newPassword();
    const hash = await this.#passwords.hash(password);
    await this.#store.accounts.setPassword(id, { hash, isOneTime: true });
    return password;
  }

  /** 100 random bits, in groups that can be read out. */
  #newPassword(): string {
    const letters = [...this.#random(groups * groupLength)].map((byte) => alphabet[byte % alphabet.length]);
    return Array.from({ length: groups }, (_, i) =>
      letters.slice(i * groupLength, (i + 1) * groupLength).join(""),
    ).join("-");
  }
}
