import { type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { UserError } from "../domain/errors.ts";
import { normalPassword } from "../domain/password.ts";

/** What a hash costs: RFC 7914's parameters, N as its logarithm. 32 MB, and some 0.25 s of one core (EPYC, Node 20), by default. */
export interface PasswordCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

const defaultCost: PasswordCost = { ln: 15, r: 8, p: 3 };
/** A hash that asks for more was not written by us, and would take the service's memory. */
const mostCost: PasswordCost = { ln: 17, r: 8, p: 4 };
const saltBytes = 16;
const hashBytes = 32;

/** A hash that no password has. */
export const noHash = "";

/** So many wait for one another at most; the last places are kept for browsers that were signed in before. */
const mostWaiting = { unknown: 12, known: 20 };
/** Of a browser that was signed in before, and of whoever works here already. */
const known = -1;

interface Verdict {
  readonly fits: boolean;
  /** Whether the hash was made with other parameters than a new one would be. */
  readonly isOld: boolean;
}

interface Job {
  readonly run: () => Promise<unknown>;
  readonly rank: number;
  readonly refuse: (error: UserError) => void;
}

/** Hashes passwords, one at a time: each takes memory, and a thread of the pool that files are written with. */
export class Passwords {
  readonly #random: (bytes: number) => Buffer;
  readonly #cost: PasswordCost;
  readonly #waiting: Job[] = [];
  #isBusy = false;
  #count = 0;

  constructor(random: (bytes: number) => Buffer, cost: PasswordCost = defaultCost) {
    this.#random = random;
    this.#cost = cost;
  }

  /** How many hashes were computed. */
  get count(): number {
    return this.#count;
  }

  /** @returns the hash with its parameters and salt, in the PHC string format */
  hash(password: string): Promise<string> {
    const salt = this.#random(saltBytes);
    const cost = this.#cost;
    return this.#inTurn(known, async () => written(cost, salt, await this.#derive(password, salt, cost)));
  }

  /**
   * Whether a password is the one that was hashed. Where there is no hash, or none of ours, as much work is done.
   * @param rank how much failed lately where it comes from: who failed least goes first
   * @throws UserError "busy"
   */
  verify(password: string, hash: string | undefined, rank = known): Promise<Verdict> {
    const parsed = hash === undefined ? undefined : parseHash(hash);
    return this.#inTurn(rank, async () => {
      const {
        cost = this.#cost,
        salt = Buffer.alloc(saltBytes),
        key = Buffer.alloc(hashBytes),
      } = parsed ?? {};
      const derived = await this.#derive(password, salt, cost);
      const isEqual = timingSafeEqual(derived, key);
      const { ln, r, p } = this.#cost;
      return {
        fits: isEqual && parsed !== undefined,
        isOld: cost.ln !== ln || cost.r !== r || cost.p !== p,
      };
    });
  }

  #derive(password: string, salt: Buffer, { ln, r, p }: PasswordCost): Promise<Buffer> {
    this.#count++;
    const N = 2 ** ln;
    const options: ScryptOptions = { N, r, p, maxmem: 128 * r * (N + p + 2) };
    return new Promise((resolve, reject) => {
      scrypt(normalPassword(password), salt, hashBytes, options, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  }

  #inTurn<T>(rank: number, run: () => Promise<T>): Promise<T> {
    this.#makeRoom(rank);
    return new Promise<T>((resolve, reject) => {
      const job = { rank, run: () => run().then(resolve, reject), refuse: reject };
      const at = this.#waiting.findIndex((other) => other.rank > rank);
      this.#waiting.splice(at === -1 ? this.#waiting.length : at, 0, job);
      void this.#work();
    });
  }

  /** Where all places are taken, who failed most gives up theirs. @throws UserError "busy" where that is who asks */
  #makeRoom(rank: number): void {
    if (this.#waiting.length < (rank === known ? mostWaiting.known : mostWaiting.unknown)) return;
    const last = this.#waiting.at(-1);
    if (last === undefined || last.rank <= rank) throw busy();
    this.#waiting.pop();
    last.refuse(busy());
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) await job.run();
    this.#isBusy = false;
  }
}

function busy(): UserError {
  return new UserError("busy", "Too many are signing in at the moment. Try again in a few seconds.");
}

interface ParsedHash {
  readonly cost: PasswordCost;
  readonly salt: Buffer;
  readonly key: Buffer;
}

function written({ ln, r, p }: PasswordCost, salt: Buffer, key: Buffer): string {
  const text = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "");
  return `$scrypt$ln=${ln},r=${r},p=${p}$${text(salt)}$${text(key)}`;
}

/** Undefined for what is no hash of ours, or costs more than any of ours. */
function parseHash(text: string): ParsedHash | undefined {
  const parts =
    /^\$scrypt\$ln=([1-9]\d?),r=([1-9]\d?),p=([1-9]\d?)\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/.exec(
      text,
    );
  if (parts === null) return undefined;
  const [, ln, r, p, salt = "", key = ""] = parts;
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  if (cost.ln > mostCost.ln || cost.r > mostCost.r || cost.p > mostCost.p) return undefined;
  return { cost, salt: Buffer.from(salt, "base64"), key: Buffer.from(key, "base64") };
}
