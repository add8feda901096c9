import { type Account, isOneTimeOver, type Session } from "../../domain/access/account.ts";
import { messageOf } from "../../domain/errors.ts";
import { isSameText, randomText, secretDigest, signatureOf } from "../../domain/secrets.ts";
import { dayMs } from "../../domain/text.ts";
import type { Store } from "../../store/store.ts";

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

// The cookie of a browser that signed in, by which it is told apart from one that guesses (OWASP, device cookies).

/** A browser counts as known for so long after its last success. */
export const deviceMs = 180 * dayMs;

const nonceBytes = 9;

/** @param name the account's, folded @param now UTC, milliseconds since 1970 @returns the cookie's value */
export function makeDevice(
  key: Uint8Array,
  name: string,
  now: number,
  random: (bytes: number) => Buffer,
): string {
  const expiry = Math.ceil((now + deviceMs) / 1000).toString(36);
  const nonce = randomText(random, nonceBytes);
  return `${expiry}.${nonce}.${signatureOf(key, [name, expiry, nonce])}`;
}

/** Names the browser that a cookie was made for; undefined where it was made for another name, or never, or is over. */
export function readDevice(
  key: Uint8Array,
  name: string,
  now: number,
  cookie: string | undefined,
): string | undefined {
  const [expiry = "", nonce = "", signature = "", more] = cookie?.split(".") ?? [];
  if (more !== undefined || !isSameText(signatureOf(key, [name, expiry, nonce]), signature)) return undefined;
  return Number.parseInt(expiry, 36) * 1000 > now ? nonce : undefined;
}

/** In milliseconds. Each save writes the whole database, and agents ask all day. */
const savedAfterMs = 5 * 60_000;

/** Saves when records were used last, at most every five minutes for each. Whoever uses one waits for nothing. */
export class LastUsed {
  /** When that was saved, or was to be saved and could not be, by the records' ids. */
  readonly #tried = new Map<number, number>();
  readonly #what: string;
  readonly #log: (line: string) => void;

  /** @param what is saved, as the log names it where that fails */
  constructor(what: string, log: (line: string) => void) {
    this.#what = what;
    this.#log = log;
  }

  /** @param saved the last use that the record itself tells of; 0 for none @param now UTC, milliseconds since 1970 */
  note(id: number, saved: number, now: number, save: () => Promise<void>): void {
    if (now - Math.max(saved, this.#tried.get(id) ?? 0) < savedAfterMs) return;
    this.#tried.set(id, now);
    save().catch((error: unknown) => this.#log(`warning: ${this.#what} is not saved: ${messageOf(error)}`));
  }
}
