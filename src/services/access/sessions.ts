import { type Account, isOneTimeOver, type Session } from "../../domain/access/account.ts";
import { secretDigest } from "../../domain/secrets.ts";
import type { Store } from "../../store/store.ts";
import { LastUsed } from "./last-used.ts";

/** A session, and whose it is. */
export interface SignedIn {
  readonly session: Session;
  readonly account: Account;
}

/** Who is signed in, and when they were here last. */
export class Sessions {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #sessions: LastUsed;
  readonly #accounts: LastUsed;

  constructor(store: Store, clock: () => number, log: (line: string) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#sessions = new LastUsed("when sessions were used last", log);
    this.#accounts = new LastUsed("when accounts were used last", log);
  }

  /** Who has a cookie; undefined where it is no session's, or none's any more. */
  find(cookie: string): SignedIn | undefined {
    const found = this.#store.sessions.find(secretDigest(cookie));
    const now = this.#clock();
    if (found === undefined || isOneTimeOver(found.account, now)) return undefined;
    const { id, seen_at } = found.session;
    this.#sessions.note(id, seen_at, now, () => this.#store.sessions.seen(id, now));
    return found;
  }

  /** A proxy named this account's person, who has no session. */
  cameByProxy({ id, seen_at }: Account): void {
    const now = this.#clock();
    this.#accounts.note(id, seen_at, now, () => this.#store.accounts.seen(id, now));
  }
}
