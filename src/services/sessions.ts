import { type Account, isOneTimeOver, type Session } from "../domain/account.ts";
import { randomText, secretDigest } from "../domain/signed.ts";
import { type NewSession, sessionMs } from "../store/sessions.ts";
import type { Store } from "../store/store.ts";
import { LastUsed } from "./last-used.ts";

const cookieBytes = 32;

/** A session, and whose it is. */
export interface SignedIn {
  readonly session: Session;
  readonly account: Account;
}

/** Who is signed in. Reading a session costs one look into the database in memory, and writes nothing. */
export class Sessions {
  readonly #store: Store;
  readonly #clock: () => number;
  /** When sessions were used last, by their ids, where that is not saved yet. */
  readonly #seen: LastUsed<number>;
  /** The same of accounts whose people a proxy names, who have no session. */
  readonly #proxied: LastUsed<number>;

  constructor(store: Store, clock: () => number, log: (line: string) => void) {
    this.#store = store;
    this.#clock = clock;
    const of = (what: string, save: (seen: ReadonlyMap<number, number>) => Promise<void>) =>
      new LastUsed<number>({ what: `when ${what} were used last`, save, log });
    this.#seen = of("sessions", (seen) => store.sessions.seen(seen));
    this.#proxied = of("accounts", (seen) => store.accounts.seen(seen));
  }

  /** @returns whether it began; it does not where the account was disabled or got another password meanwhile */
  begin(session: NewSession): Promise<boolean> {
    return this.#store.sessions.add(session, this.#seen.all());
  }

  /** Who has a cookie; undefined where it is no session's, or none's any more. */
  find(cookie: string): SignedIn | undefined {
    const found = this.#store.sessions.find(secretDigest(cookie));
    const now = this.#clock();
    if (found === undefined || isOneTimeOver(found.account, now)) return undefined;
    if (this.#seenAt(found.session) + sessionMs.idle <= now) return undefined;
    this.#seen.note(found.session.id, now);
    return found;
  }

  /** A proxy named this account's person. */
  cameByProxy({ id }: Account): void {
    this.#proxied.note(id, this.#clock());
  }

  /** Those of an account, also with what is not saved yet. */
  ofAccount(id: number): Session[] {
    const now = this.#clock();
    const sessions = this.#store.sessions.ofAccount(id);
    const all = sessions.map((session) => ({ ...session, seen_at: this.#seenAt(session) }));
    return all.filter(
      ({ seen_at, created_at }) => seen_at + sessionMs.idle > now && created_at + sessionMs.longest > now,
    );
  }

  /** When an account was seen last, also where that is not saved yet. */
  lastSeen({ id, seen_at }: Account): number {
    return Math.max(
      seen_at,
      this.#proxied.all().get(id) ?? 0,
      ...this.ofAccount(id).map((session) => session.seen_at),
    );
  }

  /** UTC, in milliseconds since 1970. */
  now(): number {
    return this.#clock();
  }

  /** Saves when sessions and accounts were used; whatever stands in the way, it does not fail. */
  async flush(): Promise<void> {
    await Promise.all([this.#seen.flush(), this.#proxied.flush()]);
  }

  /** Saves what is left and notes nothing more. */
  async close(): Promise<void> {
    await Promise.all([this.#seen.close(), this.#proxied.close()]);
  }

  #seenAt({ id, seen_at }: Session): number {
    return Math.max(seen_at, this.#seen.all().get(id) ?? 0);
  }
}

/** A cookie that nobody can guess. */
export function newCookie(random: (bytes: number) => Buffer): string {
  return randomText(random, cookieBytes);
}
