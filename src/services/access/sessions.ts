import { type Account, isOneTimePasswordExpired, type Session } from "../../domain/access/account.ts";
import { errorMessage } from "../../domain/errors.ts";
import { secretDigest } from "../../domain/secrets.ts";
import type { Store } from "../../store/store.ts";

/** A session with its account. */
export interface SignedIn {
  readonly session: Session;
  readonly account: Account;
}

/** Finds sessions by their cookies, and records when sessions and accounts were last used. */
export class Sessions {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #sessions: LastUsed;
  readonly #accounts: LastUsed;

  constructor(store: Store, clock: () => number, log: (line: string) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#sessions = new LastUsed(log);
    this.#accounts = new LastUsed(log);
  }

  /** The session of a cookie; undefined if it has ended or the account's one-time password has expired. */
  find(cookie: string): SignedIn | undefined {
    const found = this.#store.sessions.find(secretDigest(cookie));
    const now = this.#clock();
    if (found === undefined || isOneTimePasswordExpired(found.account, now)) return undefined;
    const { id, seen_at } = found.session;
    this.#sessions.record(id, seen_at, now, () => this.#store.sessions.recordUse(id, now));
    return found;
  }

  /** Records a request for which a proxy named the account's person. Such a request has no session. */
  recordProxyVisit({ id, seen_at }: Account): void {
    const now = this.#clock();
    this.#accounts.record(id, seen_at, now, () => this.#store.accounts.recordUse(id, now));
  }
}

/** In milliseconds. Each save writes the whole database, and agents send requests all day. */
const saveIntervalMs = 5 * 60_000;

/** Saves when records were last used, at most every five minutes for each. Requests do not wait for the save. */
export class LastUsed {
  /** When a save was last attempted, by the record's id. */
  readonly #attempts = new Map<number, number>();
  readonly #log: (line: string) => void;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** @param savedAt the last use in the record; 0 for none @param now UTC, milliseconds since 1970 */
  record(id: number, savedAt: number, now: number, save: () => Promise<void>): void {
    if (now - Math.max(savedAt, this.#attempts.get(id) ?? 0) < saveIntervalMs) return;
    this.#attempts.set(id, now);
    save().catch((error: unknown) =>
      this.#log(`warning: a time of last use is not saved: ${errorMessage(error)}`),
    );
  }
}
