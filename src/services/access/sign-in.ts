import {
  type Account,
  accountNameKey,
  adminName,
  isOneTimeOver,
  type Session,
} from "../../domain/access/account.ts";
import { checkChosen, isPossible } from "../../domain/access/password.ts";
import { siteOf, subnetOf } from "../../domain/address.ts";
import { RecentMap } from "../../domain/collections.ts";
import { UserError } from "../../domain/errors.ts";
import type { FormInput } from "../../domain/fields.ts";
import { keyFor, randomText, secretDigest } from "../../domain/secrets.ts";
import { counted } from "../../domain/text.ts";
import { noHash } from "../../store/access/accounts.ts";
import { currentActor } from "../../store/actor.ts";
import type { Store } from "../../store/store.ts";
import { BoundedLines } from "../limited-log.ts";
import type { Passwords } from "./passwords.ts";
import type { SignedIn } from "./sessions.ts";
import { makeDevice, readDevice } from "./sessions.ts";

/** What somebody sends who wants to sign in. */
interface Credentials {
  readonly name: string;
  readonly password: string;
}

/** Where it comes from. */
interface From {
  readonly address: string;
  readonly browser: string;
  /** The cookies that the browser has from before. */
  readonly device?: string | undefined;
  readonly session?: string | undefined;
}

/** Of a session: nobody can guess it. */
const cookieBytes = 32;

/** Somebody tries a password. */
interface Attempt {
  /** As it was typed. */
  readonly name: string;
  readonly address: string;
  /** What it counts under where it fails. */
  readonly keys: readonly FailureKey[];
}

interface SignInOptions {
  readonly store: Store;
  readonly passwords: Passwords;
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly log: (line: string) => void;
}

/** Too many attempts failed. */
export class TooEarly extends UserError {
  /** Until the next attempt may be made. */
  readonly seconds: number;

  constructor(waitMs: number) {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    const wait = seconds < 120 ? counted(seconds, "second") : counted(Math.ceil(seconds / 60), "minute");
    const message = `Too many attempts failed. Try again in ${wait}.`;
    super("too-often", message, { password: message });
    this.seconds = seconds;
  }
}

/** Lets people in who know their password. */
export class SignIn {
  readonly #options: SignInOptions;
  readonly #deviceKey: Uint8Array;
  readonly #failed: FailedAttempts;
  /** Of what was refused, for the service's log. */
  readonly #lines: BoundedLines;

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#deviceKey = keyFor("devices", options.store.secret);
    this.#failed = new FailedAttempts(options.clock);
    this.#lines = new BoundedLines(options.log);
  }

  /** Makes the administrator's password the setting's; without one, nothing fits the administrator's account. */
  async start(adminPassword: string | undefined): Promise<void> {
    const { store, passwords } = this.#options;
    const known = store.accounts.findByName(adminName);
    if (adminPassword === undefined) {
      if (known !== undefined && known.hash !== noHash) await store.accounts.renewAdmin(noHash);
      return;
    }
    const fits = await passwords.verify(adminPassword, known?.hash);
    if (!fits) await store.accounts.renewAdmin(await passwords.hash(adminPassword));
  }

  /**
   * Begins a session, and makes the browser a known one.
   * @throws UserError "invalid", with one message for a name that nobody has, a wrong password and a disabled account;
   *   `TooEarly`; UserError "busy"
   */
  async signIn(
    { name, password }: Credentials,
    { address, browser, ...cookies }: From,
  ): Promise<{ readonly account: Account; readonly cookie: string; readonly device: string }> {
    const { store, clock, random } = this.#options;
    const attempt = { name, address, keys: this.#keysOf(name, address, cookies.device) };
    const found = store.accounts.findByName(name);
    const fits = await this.#verify(attempt, password, found?.hash);
    const refuse = (why: string) =>
      this.#refuse(attempt, why, "There is no such account with this password.");
    if (found === undefined || !fits) throw refuse("wrong password");
    const { account } = found;
    if (account.isDisabled) throw refuse("the account is disabled");
    if (isOneTimeOver(account, clock())) throw refuse("its one-time password is over");
    const cookie = randomText(random, cookieBytes);
    const hasBegun = await store.sessions.add({
      account,
      verified: found.hash,
      digest: secretDigest(cookie),
      before: cookies.session && secretDigest(cookies.session),
      address: address.slice(0, 64),
      browser,
    });
    if (!hasBegun) throw refuse("the account was changed meanwhile");
    this.#failed.forgive(attempt.keys);
    this.#note("signed-in", attempt);
    return { account, cookie, device: makeDevice(this.#deviceKey, accountNameKey(name), clock(), random) };
  }

  /** A browser that was signed in before under this name is held up by its own failures alone. */
  #keysOf(name: string, address: string, device: string | undefined): FailureKey[] {
    const key = accountNameKey(name);
    const known = readDevice(this.#deviceKey, key, this.#options.clock(), device);
    if (known !== undefined) return [`browser ${known}`];
    return [`name ${secretDigest(key)}`, `network ${subnetOf(address)}`];
  }

  /**
   * Gives the account of a session another password, of its owner's choice.
   * @returns the session's new cookie
   * @throws UserError "invalid" with a message beside the field, `TooEarly`, UserError "busy" or "stale"
   */
  async changePassword({ session, account: { name } }: SignedIn, form: FormInput): Promise<string> {
    // Checked before the password that there is, and so tells nothing of it.
    checkChosen(form, name);
    const { store, passwords, random } = this.#options;
    // Whoever found an open browser guesses here as slowly as anywhere, and holds up nobody else.
    const attempt = { name, address: currentActor().from, keys: [`browser session ${session.id}`] as const };
    const kept = store.accounts.findByName(name);
    const fits = await this.#verify(attempt, form.password ?? "", kept?.hash);
    if (kept === undefined || !fits)
      throw this.#refuse(
        attempt,
        "wrong password where it was to be changed",
        "This is not your current password.",
      );
    this.#failed.forgive(attempt.keys);
    const cookie = randomText(random, cookieBytes);
    const hash = await passwords.hash(form.chosen ?? "");
    await store.sessions.changePassword(session, { verified: kept.hash, hash, digest: secretDigest(cookie) });
    return cookie;
  }

  /** Ends the session of who signs out. */
  async signOut({ id, account_id }: Session, name: string, address: string): Promise<void> {
    await this.#options.store.sessions.end(account_id, id);
    this.#note("signed-out", { name, address });
  }

  /**
   * Compares a password with a hash. Attempts that wait for their turn are no failures, and those that failed meanwhile
   * count: however many come at once, few more are tried than one by one.
   * @throws `TooEarly`, UserError "busy"
   */
  async #verify(attempt: Attempt, password: string, hash: string | undefined): Promise<boolean> {
    const check = () => {
      const waitMs = this.#failed.waitMs(attempt.keys);
      if (waitMs === 0) return;
      this.#note("sign-in-failed", attempt, "too many attempts");
      throw new TooEarly(waitMs);
    };
    check();
    const tried = isPossible(password) ? password : "";
    const stranger = attempt.keys[0]?.startsWith("browser ") ? undefined : attempt.address;
    return (await this.#options.passwords.verify(tried, hash, check, stranger)) && tried === password;
  }

  /** Counts an attempt as failed. @param why for the logs alone @returns what is said */
  #refuse(attempt: Attempt, why: string, message: string): UserError {
    this.#failed.add(attempt.keys);
    this.#note("sign-in-failed", attempt, why);
    return new UserError("invalid", message, { password: message });
  }

  /**
   * Puts what happened into the service's log and the audit log.
   * A name that nobody has may be a password that was typed into the wrong field: it is not repeated.
   */
  #note(event: keyof typeof inWords, { name, address: from }: Omit<Attempt, "keys">, what?: string): void {
    const { store, log } = this.#options;
    const known = store.accounts.findByName(name)?.account.name;
    const who = known === undefined ? "somebody under a name that no account has" : `“${known}”`;
    const line = `sign-in: ${inWords[event]}: ${who} from ${from}${what === undefined ? "" : ` (${what})`}`;
    // No number of refusals leaves out who is in.
    if (event === "sign-in-failed") this.#lines.say(line, siteOf(from));
    else log(line);
    const actor = { who: known ?? "an unknown name", from };
    store.audit.note(event, { ...(what !== undefined && { what }), actor });
  }
}

/** What happens, under the names that the audit log has for it. */
const inWords = { "signed-in": "let in", "sign-in-failed": "refused", "signed-out": "signed out" } as const;

/** What failed attempts are counted by: an account's name, a network, or a browser that is known. */
export type FailureKey = `${keyof typeof longestMs} ${string}`;

interface Failures {
  readonly count: number;
  /** When the last one was, and from when on the next attempt may be made; in milliseconds since 1970. */
  readonly at: number;
  readonly openAt: number;
}

const minute = 60_000;

/** The longest wait. A name stays open to its owner while strangers guess its password. */
const longestMs = { name: minute / 2, network: 15 * minute, browser: 15 * minute } as const;
/** So many failures cost no wait. The next one costs a second, and each further one doubles the wait. */
const free = 5;
const firstWaitMs = 1000;
/** Failures are forgotten so long after the last of them. */
const rememberedMs = 120 * minute;
const maxKeys = 20_000;

/** Counts failed attempts, each under several keys, and says how long the next attempt has to wait. */
export class FailedAttempts {
  readonly #clock: () => number;
  readonly #failures = new RecentMap<FailureKey, Failures>(maxKeys);

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** In how many milliseconds the next attempt may be made; 0 for at once. */
  waitMs(keys: readonly FailureKey[]): number {
    const now = this.#clock();
    return Math.max(0, ...keys.map((key) => (this.#failures.get(key)?.openAt ?? 0) - now));
  }

  add(keys: readonly FailureKey[]): void {
    const now = this.#clock();
    for (const key of keys) {
      const before = this.#failures.get(key);
      const count = (before === undefined || before.at + rememberedMs <= now ? 0 : before.count) + 1;
      this.#failures.set(key, { count, at: now, openAt: now + waitAfter(count, key) });
    }
  }

  /** Forgets what failed, since an attempt succeeded. */
  forgive(keys: readonly FailureKey[]): void {
    for (const key of keys) this.#failures.delete(key);
  }
}

function waitAfter(count: number, key: FailureKey): number {
  if (count < free) return 0;
  const kind = key.slice(0, key.indexOf(" ")) as keyof typeof longestMs;
  return Math.min(longestMs[kind], firstWaitMs * 2 ** (count - free));
}
