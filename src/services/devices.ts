import { dayMs } from "../domain/day.ts";
import { isSameText, keyFor, randomText, signatureOf } from "../domain/signed.ts";

/** A browser counts as known for so long after its last success. */
export const deviceMs = 180 * dayMs;

const nonceBytes = 9;
const macLength = 43;

/** Signs what a browser is given that signed in, so that it is told apart from one that guesses (OWASP, device cookies). */
export class Devices {
  readonly #key: Uint8Array;
  readonly #clock: () => number;
  readonly #random: (bytes: number) => Buffer;

  constructor(secret: Uint8Array, clock: () => number, random: (bytes: number) => Buffer) {
    this.#key = keyFor("devices", secret);
    this.#clock = clock;
    this.#random = random;
  }

  /** @param name folded */
  make(name: string): string {
    const expiry = Math.ceil((this.#clock() + deviceMs) / 1000).toString(36);
    const nonce = randomText(this.#random, nonceBytes);
    return `${expiry}.${nonce}.${signatureOf(this.#key, [name, expiry, nonce])}`;
  }

  /** Names the device that a cookie was made for; undefined where it was made for another name, or never. */
  read(cookie: string | undefined, name: string): string | undefined {
    const [expiry = "", nonce = "", mac = "", ...rest] = cookie?.split(".") ?? [];
    if (rest.length > 0 || mac.length !== macLength || !/^[0-9a-z]{1,10}$/.test(expiry)) return undefined;
    if (!isSameText(signatureOf(this.#key, [name, expiry, nonce]), mac)) return undefined;
    return Number.parseInt(expiry, 36) * 1000 > this.#clock() ? nonce : undefined;
  }
}
