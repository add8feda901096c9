import {
  type Account,
  accountNameKey,
  adminName,
  isOneTimePasswordExpired,
  type Session,
} from "../../domain/access/account.ts";
import { checkNewPassword, isPossibleLength } from "../../domain/access/password.ts";
import { hostNetwork, signInNetwork } from "../../domain/address.ts";
import { RecentMap } from "../../domain/collections.ts";
import { UserError } from "../../domain/errors.ts";
import type { FormInput } from "../../domain/fields.ts";
import { type LimitedLog, limitLog } from "../../domain/flood-limit.ts";
import { quoted } from "../../domain/log.ts";
import { isSameText, keyFor, randomText, secretDigest, signatureOf } from "../../domain/secrets.ts";
import { counted, dayMs } from "../../domain/text.ts";
import { noHash } from "../../store/access/accounts.ts";
import { currentActor, runAs } from "../../store/actor.ts";
import type { Passwords } from "./passwords.ts";
import type { SignedIn } from "./sessions.ts";
import type { AccessParts } from "./tokens.ts";

export interface SignInOrigin {
  readonly address: string;
  readonly browser: string;
  /** The cookies that the browser already has. */
  readonly device?: string | undefined;
  readonly session?: string | undefined;
}

/** The random bytes of a session's cookie. */
export const cookieBytes = 32;

/** One attempt to use a password. */
interface Attempt {
  /** As it was typed. */
  readonly name: string;
  readonly address: string;
  /** The keys under which a failure is counted. */
  readonly keys: readonly FailureKey[];
}

interface SignInOptions extends AccessParts {
  readonly passwords: Passwords;
  readonly failed: FailedAttempts;
}

/** Too many attempts failed: the next one has to wait. */
export class TooManyAttempts extends UserError {
  /** The wait until the next attempt. */
  readonly seconds: number;

  constructor(waitMs: number) {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    const wait = seconds < 120 ? counted(seconds, "second") : counted(Math.ceil(seconds / 60), "minute");
    const message = `Too many attempts failed. Try again in ${wait}.`;
    super("too-often", message, { password: message });
    this.seconds = seconds;
  }
}

/** Signs people in and out, and changes their passwords. */
export class SignIn {
  readonly #options: SignInOptions;
  readonly #failed: FailedAttempts;
  readonly #logRefusal: LimitedLog;

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#failed = options.failed;
    this.#logRefusal = limitLog(options.log);
  }

  /** Sets the administrator's password. Without one in the settings, nobody can sign in as the administrator. */
  async start(adminPassword: string | undefined): Promise<void> {
    const { store, passwords } = this.#options;
    const known = store.accounts.findByName(adminName);
    if (adminPassword === undefined) {
      if (known !== undefined && known.hash !== noHash) await store.accounts.setAdminPassword(noHash);
      return;
    }
    const isCorrect = await passwords.verify(adminPassword, known?.hash);
    if (!isCorrect) await store.accounts.setAdminPassword(await passwords.hash(adminPassword));
  }

  /**
   * Begins a session, and makes the browser a known one.
   * @throws UserError "invalid", with the same message for an unknown name, a wrong password and a disabled account;
   *   `TooManyAttempts`; UserError "busy"
   */
  async signIn(
    { name, password }: { readonly name: string; readonly password: string },
    { address, browser, ...cookies }: SignInOrigin,
  ): Promise<{ readonly account: Account; readonly cookie: string; readonly device: string }> {
    const { store, clock, random } = this.#options;
    const key = accountNameKey(name);
    const keys = this.#failed.keysOf(key, address, cookies.device, [`name ${secretDigest(key)}`]);
    const attempt = { name, address, keys };
    const found = store.accounts.findByName(name);
    const isCorrect = await this.#verify(attempt, password, found?.hash);
    const refuse = (why: string) => this.#refuse(attempt, why, "Wrong name or password.");
    if (found === undefined || !isCorrect) throw refuse("wrong password");
    const { account } = found;
    if (account.isDisabled) throw refuse("the account is disabled");
    if (isOneTimePasswordExpired(account, clock())) throw refuse("its one-time password is over");
    const cookie = randomText(random, cookieBytes);
    const session = newSession(cookie, { address, browser, ...cookies });
    const actor = { who: account.name, from: address };
    if (!(await runAs(actor, () => store.sessions.add(account, found.hash, session))))
      throw refuse("the account was changed meanwhile");
    this.#failed.clear(keys);
    this.#log("let in", { name: account.name, address });
    return { account, cookie, device: this.#failed.deviceCookie(key, random) };
  }

  /**
   * Changes the password of a session's account.
   * @returns the session's new cookie
   * @throws UserError "invalid" with a message beside the field, `TooManyAttempts`, UserError "busy" or "stale"
   */
  async changePassword({ session, account }: SignedIn, form: FormInput): Promise<string> {
    const { name } = account;
    // Checked before the current password, so that the response does not reveal whether that one is correct.
    checkNewPassword(form, name);
    const { store, passwords, random } = this.#options;
    // Guesses in a browser that was left open have to wait too. They delay nobody else.
    const attempt = { name, address: currentActor().from, keys: [`browser session ${session.id}`] as const };
    const kept = store.accounts.findByName(name);
    const isCorrect = await this.#verify(attempt, form.password ?? "", kept?.hash);
    const why = "wrong password where it was to be changed";
    if (kept === undefined || !isCorrect) {
      const which = account.hasOneTimePassword ? "one-time" : "current";
      throw this.#refuse(attempt, why, `The ${which} password is wrong. Type it again.`);
    }
    this.#failed.clear(attempt.keys);
    const cookie = randomText(random, cookieBytes);
    const hash = await passwords.hash(form.chosen ?? "");
    await store.sessions.changePassword(session, { verified: kept.hash, hash, digest: secretDigest(cookie) });
    return cookie;
  }

  async signOut({ id, account_id }: Session, name: string, address: string): Promise<void> {
    await this.#options.store.sessions.end(account_id, id);
    this.#log("signed out", { name, address });
  }

  /**
   * Compares a password with a hash. It checks the wait before the queue and after it, so parallel attempts can try only
   * a few more passwords than sequential ones.
   * @throws `TooManyAttempts`, UserError "busy"
   */
  async #verify(attempt: Attempt, password: string, hash: string | undefined): Promise<boolean> {
    const check = () => {
      const waitMs = this.#failed.waitMs(attempt.keys);
      if (waitMs === 0) return;
      this.#recordFailure(attempt, "too many attempts");
      throw new TooManyAttempts(waitMs);
    };
    check();
    const tried = isPossibleLength(password) ? password : "";
    const unknownBrowser = attempt.keys[0]?.startsWith("browser ") ? undefined : attempt.address;
    return (await this.#options.passwords.verify(tried, hash, check, unknownBrowser)) && tried === password;
  }

  /** Counts an attempt as failed. @param why for the logs only @returns the error with `message` */
  #refuse(attempt: Attempt, why: string, message: string): UserError {
    this.#failed.add(attempt.keys);
    this.#recordFailure(attempt, why);
    return new UserError("invalid", message, { password: message });
  }

  #log(event: string, { name, address }: Omit<Attempt, "keys">): void {
    this.#options.log(`sign-in: ${event}: ${quoted(name)} from ${address}`);
  }

  /**
   * Writes a failure to the service's log and the audit log.
   * An unknown name may be a password that was typed into the wrong field: neither log repeats it.
   */
  #recordFailure({ name, address: from }: Attempt, what: string): void {
    const { store } = this.#options;
    const known = store.accounts.findByName(name)?.account.name;
    const who = known === undefined ? "somebody under a name that no account has" : quoted(known);
    this.#logRefusal(`sign-in: refused: ${who} from ${from} (${what})`, hostNetwork(from));
    store.audit.record("sign-in-failed", { what, actor: { who: known ?? "an unknown name", from } });
  }
}

/** The row of a session that begins. @param cookie its value */
export function newSession(cookie: string, { address, browser, session }: SignInOrigin) {
  return {
    digest: secretDigest(cookie),
    previousDigest: session && secretDigest(session),
    address: address.slice(0, 64),
    browser,
  };
}

/** Failures are counted by an account's name, a network, or a known browser. */
export type FailureKey = `${keyof typeof maxWaitMs} ${string}`;

interface Failures {
  readonly count: number;
  /** Times in milliseconds since 1970. */
  readonly lastAt: number;
  readonly nextAttemptAt: number;
}

const minute = 60_000;

/** The longest waits. The one for a name is short, so that its owner can sign in while others guess. */
const maxWaitMs = { name: minute / 2, network: 15 * minute, browser: 15 * minute } as const;
/** The number of the first failure that causes a wait, of `firstWaitMs`. Each further failure doubles the wait. */
const firstDelayedFailure = 5;
const firstWaitMs = 1000;
/** Failures are forgotten this long after the last one. */
const rememberedMs = 120 * minute;
const maxKeys = 20_000;
/** A browser counts as known for this long after its last sign-in. */
export const deviceCookieMs = 180 * dayMs;
const nonceBytes = 9;

/** Counts failed attempts, each under several keys, and calculates the wait until the next attempt. */
export class FailedAttempts {
  readonly #clock: () => number;
  readonly #deviceKey: Uint8Array;
  readonly #failures = new RecentMap<FailureKey, Failures>(maxKeys);

  /** @param secret of the installation */
  constructor(clock: () => number, secret: Uint8Array) {
    this.#clock = clock;
    this.#deviceKey = keyFor("devices", secret);
  }

  /**
   * A browser that signed in before waits only for its own failures. Without this, whoever guesses in an office, or behind
   * a proxy that is not in `TRUSTED_PROXIES`, would make everybody there wait for a quarter of an hour.
   * @param name under which it signed in @param others further keys of other browsers
   */
  keysOf(
    name: string,
    address: string,
    device: string | undefined,
    others: readonly FailureKey[] = [],
  ): FailureKey[] {
    const [expiry = "", nonce = "", ...rest] = device?.split(".") ?? [];
    const isOurs = isSameText(signatureOf(this.#deviceKey, [name, expiry, nonce]), rest.join("."));
    if (isOurs && Number.parseInt(expiry, 36) * 1000 > this.#clock()) return [`browser ${nonce}`];
    return [...others, `network ${signInNetwork(address)}`];
  }

  /** The cookie by which `keysOf` knows a browser (OWASP, device cookies). */
  deviceCookie(name: string, random: (bytes: number) => Buffer): string {
    const expiry = Math.ceil((this.#clock() + deviceCookieMs) / 1000).toString(36);
    const nonce = randomText(random, nonceBytes);
    return `${expiry}.${nonce}.${signatureOf(this.#deviceKey, [name, expiry, nonce])}`;
  }

  /** The wait until the next attempt, in milliseconds; 0 for none. */
  waitMs(keys: readonly FailureKey[]): number {
    const now = this.#clock();
    return Math.max(0, ...keys.map((key) => (this.#failures.get(key)?.nextAttemptAt ?? 0) - now));
  }

  add(keys: readonly FailureKey[]): void {
    const now = this.#clock();
    for (const key of keys) {
      const before = this.#failures.get(key);
      const count = (before === undefined || before.lastAt + rememberedMs <= now ? 0 : before.count) + 1;
      this.#failures.set(key, { count, lastAt: now, nextAttemptAt: now + waitAfter(count, key) });
    }
  }

  /** Forgets the failures under these keys, after an attempt that succeeded. */
  clear(keys: readonly FailureKey[]): void {
    for (const key of keys) this.#failures.delete(key);
  }
}

function waitAfter(count: number, key: FailureKey): number {
  if (count < firstDelayedFailure) return 0;
  const kind = key.slice(0, key.indexOf(" ")) as keyof typeof maxWaitMs;
  return Math.min(maxWaitMs[kind], firstWaitMs * 2 ** (count - firstDelayedFailure));
}
