import { type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { normalPassword } from "../domain/password.ts";
import { Admission } from "../workers/admission.ts";

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

/** A hash takes memory, and a thread of the pool that files are written with: two of the four stay free. */
const atOnce = 2;
/** So many are computed or wait. */
export const mostHashes = 64;

export interface Verdict {
  readonly fits: boolean;
  /** Whether the hash was made with other parameters than a new one would be. */
  readonly isOld: boolean;
}

/** Hashes passwords, two at a time; others wait in the order in which they came. */
export class Passwords {
  readonly #random: (bytes: number) => Buffer;
  readonly #cost: PasswordCost;
  readonly #turns = new Admission(atOnce, mostHashes, "are signing in");
  #count = 0;

  constructor(random: (bytes: number) => Buffer, cost: PasswordCost = defaultCost) {
    this.#random = random;
    this.#cost = cost;
  }

  /** How many hashes were computed. */
  get count(): number {
    return this.#count;
  }

  /** @returns the hash with its parameters and salt, in the PHC string format @throws UserError "busy" */
  async hash(password: string): Promise<string> {
    const salt = this.#random(saltBytes);
    const cost = this.#cost;
    return written(cost, salt, await this.#turns.run(() => this.#derive(password, salt, cost)));
  }

  /**
   * Whether a password is the one that was hashed. Where there is no hash, or none of ours, as much work is done.
   * @param check called before the work, when its turn has come
   * @param client the address that it comes from, which has half of the places at most
   * @throws UserError "busy", and what `check` throws
   */
  verify(password: string, hash: string | undefined, check = () => {}, client?: string): Promise<Verdict> {
    const parsed = parseHash(hash ?? noHash);
    const { cost, salt, key } = parsed ?? {
      cost: this.#cost,
      salt: Buffer.alloc(saltBytes),
      key: Buffer.alloc(hashBytes),
    };
    return this.#turns.run(async () => {
      check();
      const isEqual = timingSafeEqual(await this.#derive(password, salt, cost), key);
      const { ln, r, p } = this.#cost;
      return {
        fits: isEqual && parsed !== undefined,
        isOld: cost.ln !== ln || cost.r !== r || cost.p !== p,
      };
    }, client);
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
