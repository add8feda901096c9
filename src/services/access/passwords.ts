import { type ScryptOptions, scrypt } from "node:crypto";
import { normalPassword } from "../../domain/access/password.ts";
import { isSameText, randomCharacters } from "../../domain/secrets.ts";
import { Admission, Quota } from "../../workers/admission.ts";

/** What a hash costs: RFC 7914's parameters, N as its logarithm. 32 MB, and some 0.25 s of one core (EPYC, Node 20), by default. */
export interface PasswordCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** All hashes that are stored have it: who raises it still has to read those. */
const defaultCost: PasswordCost = { ln: 15, r: 8, p: 3 };
const saltBytes = 16;
const hashBytes = 32;

/** A hash takes memory, and a thread of the pool that files are written with: two of the four stay free. */
const atOnce = 2;
/** At most this many passwords from browsers that were never signed in are hashed or wait. */
export const maxStrangers = 64;

/** Of one-time passwords: 32, and none that looks like another. */
const oneTimeCharacters = "abcdefghijkmnpqrstuvwxyz23456789";

/** Hashes passwords, two at a time. The others wait in the order in which they came, strangers behind everybody else. */
export class Passwords {
  readonly #random: (bytes: number) => Buffer;
  readonly #cost: PasswordCost;
  readonly #turns = new Admission(atOnce);
  readonly #strangers = new Quota(maxStrangers, "are signing in");
  #count = 0;

  constructor(random: (bytes: number) => Buffer, cost: PasswordCost = defaultCost) {
    this.#random = random;
    this.#cost = cost;
  }

  /** How many hashes were computed so far: the work that attempts to sign in cost. */
  get count(): number {
    return this.#count;
  }

  /** @returns the hash with its parameters and salt, in the PHC string format */
  async hash(password: string): Promise<string> {
    const salt = this.#random(saltBytes);
    const key = await this.#turns.run(() => this.#derive(password, salt), undefined, true);
    return `${this.#beginning}${base64(salt)}$${base64(key)}`;
  }

  /** A password of 100 random bits, in groups that can be read out, which is to be changed. */
  async makeOneTime(): Promise<{ readonly password: string; readonly hash: string }> {
    const groups = Array.from({ length: 4 }, () => randomCharacters(this.#random, oneTimeCharacters, 5));
    const password = groups.join("-");
    return { password, hash: await this.hash(password) };
  }

  /**
   * Whether a password is the one that was hashed. Where there is no hash, or none of ours, as much work is done.
   * @param check called before the work, when its turn has come
   * @param stranger the address of a browser that was never signed in
   * @throws UserError "busy" for a stranger where too many wait, and what `check` throws
   */
  verify(password: string, hash = "", check = () => {}, stranger?: string): Promise<boolean> {
    const isOurs = hash.startsWith(this.#beginning);
    const [salt = "", key = ""] = isOurs ? hash.slice(this.#beginning.length).split("$") : [];
    const compare = async () => {
      check();
      const derived = await this.#derive(password, Buffer.from(salt, "base64"));
      return isSameText(base64(derived), key);
    };
    if (stranger === undefined) return this.#turns.run(compare, undefined, true);
    return this.#strangers.holding(stranger, 1, () => this.#turns.run(compare));
  }

  /** What a hash begins with. */
  get #beginning(): string {
    const { ln, r, p } = this.#cost;
    return `$scrypt$ln=${ln},r=${r},p=${p}$`;
  }

  #derive(password: string, salt: Buffer): Promise<Buffer> {
    this.#count++;
    const { ln, r, p } = this.#cost;
    const N = 2 ** ln;
    const options: ScryptOptions = { N, r, p, maxmem: 128 * r * (N + p + 2) };
    return new Promise((resolve, reject) => {
      scrypt(normalPassword(password), salt, hashBytes, options, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  }
}

function base64(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}
