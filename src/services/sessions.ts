import { createHash } from "node:crypto";
import { type Account, isOneTimeOver, type Session } from "../domain/account.ts";
import { messageOf } from "../domain/errors.ts";
import { sessionMs } from "../store/sessions.ts";
import type { Store } from "../store/store.ts";

/** When a session was used last is saved so often at most, since each save writes the whole database. */
const savedAfterMs = 5 * 60_000;
const cookieBytes = 32;

/** Who is signed in. Reading a session costs one look into the database in memory, and writes nothing. */
export class Sessions {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #log: (line: string) => void;
  /** When sessions were used last, by their ids, where that is not saved yet. */
  readonly #seen = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(store: Store, clock: () => number, log: (line: string) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** The session of a cookie, and whose it is; undefined where there is none, or none any more. */
  find(cookie: string): { readonly session: Session; readonly account: Account } | undefined {
    const found = this.#store.sessions.find(digestOf(cookie));
    if (found === undefined || isOneTimeOver(found.account, this.#clock())) return undefined;
    const seen = this.#seenAt(found.session);
    const now = this.#clock();
    if (seen + sessionMs.idle <= now) return undefined;
    if (seen + savedAfterMs <= now) this.#use(found.session.id, now);
    return found;
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
    return Math.max(seen_at, ...this.ofAccount(id).map((session) => session.seen_at));
  }

  /** UTC, in milliseconds since 1970. */
  now(): number {
    return this.#clock();
  }

  /** Saves when sessions were used; whatever stands in the way, it does not fail. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const seen = new Map(this.#seen);
    if (seen.size > 0) this.#saving = this.#saving.then(() => this.#save(seen));
    return this.#saving;
  }

  /** Saves what is left and notes nothing more. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.flush();
  }

  #seenAt({ id, seen_at }: Session): number {
    return Math.max(seen_at, this.#seen.get(id) ?? 0);
  }

  #use(id: number, now: number): void {
    if (this.#isClosed) return;
    this.#seen.set(id, now);
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), savedAfterMs);
    this.#timer.unref();
  }

  async #save(seen: ReadonlyMap<number, number>): Promise<void> {
    try {
      await this.#store.sessions.seen(seen);
      for (const [id, at] of seen) if (this.#seen.get(id) === at) this.#seen.delete(id);
    } catch (error) {
      this.#log(`warning: when sessions were used last is not saved: ${messageOf(error)}`);
    }
  }
}

/** What is kept of a cookie: whoever reads the database cannot make the cookie of it. */
export function digestOf(cookie: string): string {
  return createHash("sha256").update(cookie).digest("hex");
}

/** A cookie that nobody can guess. */
export function newCookie(random: (bytes: number) => Buffer): string {
  return random(cookieBytes).toString("base64url");
}
