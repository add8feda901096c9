import { type ScryptOptions, scrypt } from "node:crypto";
import { normalizePassword } from "../../domain/access/password.ts";
import { isSameText, randomCharacters } from "../../domain/secrets.ts";
import { Quota, WorkQueue } from "../../workers/admission.ts";

/**
 * The parameters of RFC 7914; `ln` is the logarithm of N to base 2. By default a hash takes 32 MB and some 0.25 s of one
 * core (EPYC, Node 20).
 */
export interface PasswordCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** Saved hashes have this cost. `verify` does not accept hashes of another cost. */
const defaultCost: PasswordCost = { ln: 15, r: 8, p: 3 };
const saltBytes = 16;
const hashBytes = 32;

/** A hash takes a thread of Node's pool, which also reads and writes files: two of the four threads stay free. */
const maxConcurrentHashes = 2;
/** The maximum number of sign-ins from unknown browsers that are checked or wait. */
export const maxUnknownBrowsers = 64;

/** The 32 characters of one-time passwords, without similar ones such as l and 1. */
const oneTimeCharacters = "abcdefghijkmnpqrstuvwxyz23456789";

/** Hashes passwords, two at a time. The others wait in order, those from unknown browsers last. */
export class Passwords {
  readonly #random: (bytes: number) => Buffer;
  readonly #cost: PasswordCost;
  readonly #queue = new WorkQueue(maxConcurrentHashes);
  readonly #unknownBrowsers = new Quota(maxUnknownBrowsers, "sign-ins");

  constructor(random: (bytes: number) => Buffer, cost: PasswordCost = defaultCost) {
    this.#random = random;
    this.#cost = cost;
  }

  /** @returns the hash with its parameters and salt, in the PHC string format */
  async hash(password: string): Promise<string> {
    const salt = this.#random(saltBytes);
    const key = await this.#queue.run(() => this.#derive(password, salt), undefined, true);
    return `${this.#prefix}${base64(salt)}$${base64(key)}`;
  }

  /** Makes a password of 100 random bits, in four groups that can be read aloud. */
  async makeOneTime(): Promise<{ readonly password: string; readonly hash: string }> {
    const groups = Array.from({ length: 4 }, () => randomCharacters(this.#random, oneTimeCharacters, 5));
    const password = groups.join("-");
    return { password, hash: await this.hash(password) };
  }

  /**
   * Whether a hash belongs to a password. It takes as long without a hash, so that the time does not reveal which
   * accounts exist.
   * @param check called after the wait and before the work
   * @param unknownBrowser the network address of a browser that never signed in
   * @throws UserError "busy" if too many unknown browsers wait, and what `check` throws
   */
  verify(password: string, hash = "", check = () => {}, unknownBrowser?: string): Promise<boolean> {
    const hasSameCost = hash.startsWith(this.#prefix);
    const [salt = "", key = ""] = hasSameCost ? hash.slice(this.#prefix.length).split("$") : [];
    const compare = async () => {
      check();
      const derived = await this.#derive(password, Buffer.from(salt, "base64"));
      return isSameText(base64(derived), key);
    };
    if (unknownBrowser === undefined) return this.#queue.run(compare, undefined, true);
    return this.#unknownBrowsers.runWith(unknownBrowser, 1, () => this.#queue.run(compare));
  }

  get #prefix(): string {
    const { ln, r, p } = this.#cost;
    return `$scrypt$ln=${ln},r=${r},p=${p}$`;
  }

  #derive(password: string, salt: Buffer): Promise<Buffer> {
    const { ln, r, p } = this.#cost;
    const N = 2 ** ln;
    const options: ScryptOptions = { N, r, p, maxmem: 128 * r * (N + p + 2) };
    return new Promise((resolve, reject) => {
      scrypt(normalizePassword(password), salt, hashBytes, options, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  }
}

function base64(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}
