import { type Account, accountNameKey, adminName, isOneTimeOver, type Session } from "../domain/account.ts";
import { UserError } from "../domain/errors.ts";
import { normalPassword, passwordLengths, passwordProblem } from "../domain/password.ts";
import { counted } from "../domain/sentences.ts";
import { secretDigest } from "../domain/signed.ts";
import { siteOf } from "../domain/site.ts";
import { currentActor } from "../store/audit/actor.ts";
import type { Store } from "../store/store.ts";
import { BoundedLines } from "./bounded-lines.ts";
import { Devices } from "./devices.ts";
import { noHash, type Passwords } from "./passwords.ts";
import { newCookie } from "./sessions.ts";
import type { SignInSource, SignInThrottle } from "./sign-in-throttle.ts";

/** What somebody sends who wants to sign in. */
interface Credentials {
  readonly name: string;
  readonly password: string;
}

/** Where it comes from. */
interface From {
  readonly address: string;
  readonly site: string;
  readonly network?: string | undefined;
  readonly near?: string;
  readonly area?: string;
  readonly browser: string;
  /** The cookies that the browser has from before. */
  readonly device?: string | undefined;
  readonly session?: string | undefined;
}

/** What came of it. A name that nobody has, a wrong password and a disabled account are told apart by nothing. */
type SignedIn =
  | { readonly kind: "in"; readonly account: Account; readonly cookie: string; readonly device: string }
  | { readonly kind: "wrong" }
  | { readonly kind: "slow"; readonly seconds: number };

interface SignInOptions {
  readonly store: Store;
  readonly passwords: Passwords;
  readonly throttle: SignInThrottle;
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly log: (line: string) => void;
}

/** Lets people in who know their password. */
export class SignIn {
  readonly #options: SignInOptions;
  readonly #devices: Devices;
  /** Of what was refused. */
  readonly #lines: BoundedLines;

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#lines = new BoundedLines(options.log);
    this.#devices = new Devices(options.store.secret, options.clock, options.random);
  }

  /** How many hashes were computed so far: the work that attempts cost. */
  get work(): number {
    return this.#options.passwords.count;
  }

  /** Makes the administrator's password the setting's; without one, nothing fits the administrator's account. */
  async start(adminPassword: string | undefined): Promise<void> {
    const { store, passwords } = this.#options;
    const known = store.accounts.findByName(adminName);
    if (adminPassword === undefined) {
      if (known !== undefined && known.hash !== noHash) await store.accounts.renewAdmin(noHash);
      return;
    }
    const verdict = await passwords.verify(adminPassword, known?.hash);
    if (!verdict.fits || verdict.isOld) await store.accounts.renewAdmin(await passwords.hash(adminPassword));
  }

  /** @throws UserError "busy" */
  async signIn({ name, password }: Credentials, from: From): Promise<SignedIn> {
    const key = accountNameKey(name);
    const device = this.#devices.read(from.device, key);
    const { site, network, near = "", area = "" } = from;
    const attempt = this.#begin({ name: secretDigest(key), device, site, network, near, area });
    if ("seconds" in attempt) {
      this.#note("sign-in-failed", name, from.address, tooMany);
      return attempt;
    }
    // Whoever is busy, or has a disk that fails, says nothing of the password.
    const notTried = (error: unknown) => {
      attempt.succeeded();
      throw error;
    };
    const verified = await this.#verify({ name, password }, attempt.rank).catch(notTried);
    const cookie = newCookie(this.#options.random);
    const { address, browser } = from;
    const before = from.session === undefined ? undefined : secretDigest(from.session);
    const session = { address: address.slice(0, 64), browser, digest: secretDigest(cookie), before };
    const begin = (account: NonNullable<typeof verified>) =>
      this.#options.store.sessions.add({ ...account, ...session }).catch(notTried);
    if (verified === undefined || !(await begin(verified))) {
      this.#note("sign-in-failed", name, address, "wrong password");
      return { kind: "wrong" };
    }
    attempt.succeeded();
    this.#note("signed-in", name, address);
    return { kind: "in", account: verified.account, cookie, device: this.#devices.make(key) };
  }

  /**
   * Gives the account of a session another password, of its owner's choice.
   * @returns the session's new cookie
   * @throws UserError "invalid" with a message beside the field, "busy" or "stale"
   */
  async changePassword(
    { session, account }: { readonly session: Session; readonly account: Account },
    sent: { readonly password: string; readonly chosen: string; readonly again: string },
  ): Promise<string> {
    const { store, passwords, random } = this.#options;
    const { name } = account;
    // Whoever found an open browser guesses here as slowly as anywhere; by a key of its own nobody else is held up.
    const attempt = this.#begin({ name: "", site: "", device: `session ${session.id}` });
    const { from } = currentActor();
    if ("seconds" in attempt) {
      this.#note("sign-in-failed", name, from, `${tooMany} to change the password`);
      throw tooEarly(attempt.seconds);
    }
    const kept = store.accounts.findByName(name);
    const verdict = await passwords.verify(sent.password, kept?.hash);
    if (kept === undefined || !verdict.fits) {
      this.#note("sign-in-failed", name, from, "wrong password where it was to be changed");
      throw invalid("password", "This is not your password until now.");
    }
    attempt.succeeded();
    const problem = chosenProblem(sent, name);
    if (problem !== undefined) throw problem;
    const cookie = newCookie(random);
    const hash = await passwords.hash(sent.chosen);
    await store.sessions.changePassword(session, { verified: kept.hash, hash, digest: secretDigest(cookie) });
    return cookie;
  }

  /** Ends the session of who signs out. */
  async signOut({ id, account_id }: Session, name: string, address: string): Promise<void> {
    await this.#options.store.sessions.end(account_id, id);
    this.#note("signed-out", name, address);
  }

  #begin(source: SignInSource) {
    const attempt = this.#options.throttle.begin(source);
    if ("succeeded" in attempt) return attempt;
    return { kind: "slow" as const, seconds: Math.max(1, Math.ceil(attempt.waitMs / 1000)) };
  }

  /** The account, where the password is its own; as much work is done for a name that nobody has. */
  async #verify({ name, password }: Credentials, rank: number) {
    const { store, passwords, clock } = this.#options;
    const found = store.accounts.findByName(name);
    const isPossible = password.length <= 4 * passwordLengths.most;
    const { fits, isOld } = await passwords.verify(isPossible ? password : "", found?.hash, rank);
    if (found === undefined || !isPossible || !fits) return undefined;
    if (found.account.isDisabled || isOneTimeOver(found.account, clock())) return undefined;
    if (!isOld) return { account: found.account, verified: found.hash };
    const hash = await passwords.hash(password);
    await store.accounts.rehash(found.account.id, found.hash, hash);
    return { account: found.account, verified: hash };
  }

  /**
   * Puts what happened into both logs, and is the one place that does.
   * A name that nobody has may be a password that was typed into the wrong field: it is not repeated.
   */
  #note(event: keyof typeof inWords, name: string, from: string, what?: string): void {
    const { accounts, audit } = this.#options.store;
    const known = accounts.findByName(name)?.account.name;
    const who = known === undefined ? "somebody under a name that no account has" : `“${known}”`;
    const why = what === undefined ? "" : ` (${what})`;
    const line = `sign-in: ${inWords[event]}: ${who} from ${from}${why}`;
    // No number of refusals leaves out who is in.
    if (event === "sign-in-failed") this.#lines.say(line, siteOf(from));
    else this.#options.log(line);
    audit.note(event, {
      ...(what !== undefined && { what }),
      actor: { who: known ?? "an unknown name", from },
    });
  }
}

/** What happens, under the names that the audit log has for it. */
const inWords = { "signed-in": "let in", "sign-in-failed": "refused", "signed-out": "signed out" } as const;

const tooMany = "too many attempts";

/** What is wrong with a password that somebody chose. */
function chosenProblem(
  sent: { readonly password: string; readonly chosen: string; readonly again: string },
  name: string,
): UserError | undefined {
  const problem = passwordProblem(sent.chosen, name);
  if (problem !== undefined) return invalid("chosen", problem);
  if (normalPassword(sent.chosen) !== normalPassword(sent.again))
    return invalid("again", "The two are not the same.");
  if (normalPassword(sent.chosen) === normalPassword(sent.password))
    return invalid("chosen", "This is the password until now: choose another one.");
  return undefined;
}

function invalid(field: string, message: string): UserError {
  return new UserError("invalid", message, { [field]: message });
}

/** Says when the next attempt may be made. */
export function tooEarly(seconds: number): UserError {
  const wait = seconds < 120 ? counted(seconds, "second") : counted(Math.ceil(seconds / 60), "minute");
  return invalid("password", `Too many attempts failed. Try again in ${wait}.`);
}
