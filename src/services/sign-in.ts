import { type Account, accountNameKey, adminName, isOneTimeOver, type Session } from "../domain/account.ts";
import { UserError } from "../domain/errors.ts";
import { passwordLengths } from "../domain/password.ts";
import { counted } from "../domain/sentences.ts";
import { secretDigest } from "../domain/signed.ts";
import { currentActor } from "../store/audit/actor.ts";
import type { Store } from "../store/store.ts";
import { AtOnce } from "./at-once.ts";
import { type ChosenPassword, chosenProblem, invalid } from "./chosen-password.ts";
import { Devices } from "./devices.ts";
import { type Asker, knownRank } from "./hash-queue.ts";
import { noHash, type Passwords } from "./passwords.ts";
import { newCookie } from "./sessions.ts";
import { SignInNotes } from "./sign-in-notes.ts";
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
  | { readonly kind: "slow"; readonly seconds: number; readonly why: string };

/** Whose password it was. */
interface Verified {
  readonly account: Account;
  /** The hash that it fitted. */
  readonly verified: string;
}

/** Whose session it is. */
interface SignedInPerson {
  readonly session: Session;
  readonly account: Account;
}

interface SignInOptions {
  readonly store: Store;
  readonly passwords: Passwords;
  readonly throttle: SignInThrottle;
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly log: (line: string) => void;
}

/** So much is under way at once for a person, for a site under one name, and for all sites where nobody is known. */
const mostOwn = 2;
const mostOfName = 4;

/** Lets people in who know their password. */
export class SignIn {
  readonly #options: SignInOptions;
  readonly #devices: Devices;
  readonly #notes: SignInNotes;
  readonly #atOnce = new AtOnce();

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#notes = new SignInNotes(options.store, options.log);
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
  async signIn(credentials: Credentials, from: From): Promise<SignedIn> {
    const key = accountNameKey(credentials.name);
    const device = this.#devices.read(from.device, key);
    const name = secretDigest(key);
    const who = device === undefined ? `${name} from ${from.site}` : name;
    const places = [{ key: who, most: mostOwn }];
    if (device === undefined) places.push({ key: `${name} from anywhere`, most: mostOfName });
    const leave = this.#atOnce.take(places);
    if (leave === undefined) {
      this.#notes.note("sign-in-failed", credentials.name, from.address, tooManyAtOnce);
      return { kind: "slow", seconds: 1, why: atOnceProblem };
    }
    const { site, network, near = "", area = "" } = from;
    try {
      return await this.#signIn(credentials, from, { who, name, device, site, network, near, area });
    } finally {
      leave();
    }
  }

  async #signIn(
    { name, password }: Credentials,
    from: From,
    { who, ...source }: SignInSource & { readonly who: string },
  ): Promise<SignedIn> {
    const attempt = this.#begin(source);
    const { address, browser } = from;
    if ("seconds" in attempt) {
      this.#notes.note("sign-in-failed", name, address, tooMany);
      return { kind: "slow", seconds: attempt.seconds, why: tooEarly(attempt.seconds) };
    }
    const notTried = notTriedAs(attempt);
    const verified = await this.#verify({ name, password }, { who, rank: attempt.rank }).catch(notTried);
    const cookie = newCookie(this.#options.random);
    const before = from.session === undefined ? undefined : secretDigest(from.session);
    const session = { address: address.slice(0, 64), browser, digest: secretDigest(cookie), before };
    const begin = (account: Verified) =>
      this.#options.store.sessions.add({ ...account, ...session }).catch(notTried);
    if ("why" in verified || !(await begin(verified))) {
      const why = "why" in verified ? verified.why : "the account was changed meanwhile";
      this.#notes.note("sign-in-failed", name, address, why);
      return { kind: "wrong" };
    }
    attempt.succeeded();
    this.#notes.note("signed-in", name, address);
    const device = this.#devices.make(accountNameKey(name));
    return { kind: "in", account: verified.account, cookie, device };
  }

  /**
   * Gives the account of a session another password, of its owner's choice.
   * @returns the session's new cookie
   * @throws UserError "invalid" or "too-often" with a message beside the field, "busy" or "stale"
   */
  async changePassword(signedIn: SignedInPerson, sent: ChosenPassword): Promise<string> {
    const { name } = signedIn.account;
    // What needs no hash is asked first, and tells nothing of the password that there is.
    const problem = chosenProblem(sent, name);
    if (problem !== undefined) throw problem;
    const who = secretDigest(accountNameKey(name));
    const leave = this.#atOnce.take([{ key: who, most: mostOwn }]);
    if (leave === undefined) {
      this.#notes.note(
        "sign-in-failed",
        name,
        currentActor().from,
        `${tooManyAtOnce} to change the password`,
      );
      throw new UserError("too-often", atOnceProblem, { password: atOnceProblem });
    }
    try {
      return await this.#changePassword(signedIn, sent, { who, rank: knownRank });
    } finally {
      leave();
    }
  }

  async #changePassword(
    { session, account: { name } }: SignedInPerson,
    sent: ChosenPassword,
    asker: Asker,
  ): Promise<string> {
    const { store, passwords, random } = this.#options;
    // Whoever found an open browser guesses here as slowly as anywhere; by a key of its own nobody else is held up.
    const attempt = this.#begin({ name: "", site: "", device: `session ${session.id}` });
    const { from } = currentActor();
    if ("seconds" in attempt) {
      this.#notes.note("sign-in-failed", name, from, `${tooMany} to change the password`);
      throw invalid("password", tooEarly(attempt.seconds));
    }
    const kept = store.accounts.findByName(name);
    const isPossible = sent.password.length <= 4 * passwordLengths.most;
    const until = isPossible ? sent.password : "";
    const verdict = await passwords.verify(until, kept?.hash, asker).catch(notTriedAs(attempt));
    if (kept === undefined || !isPossible || !verdict.fits) {
      this.#notes.note("sign-in-failed", name, from, "wrong password where it was to be changed");
      throw invalid("password", "This is not your current password.");
    }
    attempt.succeeded();
    const cookie = newCookie(random);
    const hash = await passwords.hash(sent.chosen, asker);
    await store.sessions.changePassword(session, { verified: kept.hash, hash, digest: secretDigest(cookie) });
    return cookie;
  }

  /** Ends the session of who signs out. */
  async signOut({ id, account_id }: Session, name: string, address: string): Promise<void> {
    await this.#options.store.sessions.end(account_id, id);
    this.#notes.note("signed-out", name, address);
  }

  #begin(source: SignInSource) {
    const attempt = this.#options.throttle.begin(source);
    if ("succeeded" in attempt) return attempt;
    return { seconds: Math.max(1, Math.ceil(attempt.waitMs / 1000)) };
  }

  /** The account, where the password is its own, else why not; as much work is done for a name that nobody has. */
  async #verify({ name, password }: Credentials, asker: Asker): Promise<Verified | { readonly why: string }> {
    const { store, passwords, clock } = this.#options;
    const found = store.accounts.findByName(name);
    const isPossible = password.length <= 4 * passwordLengths.most;
    const { fits, isOld } = await passwords.verify(isPossible ? password : "", found?.hash, asker);
    if (found === undefined || !isPossible || !fits) return { why: "wrong password" };
    const { account } = found;
    if (account.isDisabled) return { why: "the account is disabled" };
    if (isOneTimeOver(account, clock())) return { why: "its one-time password is over" };
    if (!isOld) return { account, verified: found.hash };
    const hash = await passwords.hash(password, asker);
    await store.accounts.rehash(account.id, found.hash, hash);
    return { account, verified: hash };
  }
}

const tooMany = "too many attempts";
const tooManyAtOnce = "too many attempts at once";
const atOnceProblem = "Too many attempts came at once. Try again in a few seconds.";

/** Whoever is busy, or has a disk that fails, says nothing of the password. */
function notTriedAs(attempt: { succeeded(): void }): (error: unknown) => never {
  return (error) => {
    attempt.succeeded();
    throw error;
  };
}

/** Says when the next attempt may be made. */
export function tooEarly(seconds: number): string {
  const wait = seconds < 120 ? counted(seconds, "second") : counted(Math.ceil(seconds / 60), "minute");
  return `Too many attempts failed. Try again in ${wait}.`;
}
