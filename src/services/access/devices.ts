import { dayMs } from "../../domain/day.ts";
import { isSameText, randomText, signatureOf } from "../../domain/secrets.ts";

// The cookie of a browser that signed in, by which it is told apart from one that guesses (OWASP, device cookies).

/** A browser counts as known for so long after its last success. */
export const deviceMs = 180 * dayMs;

const nonceBytes = 9;

/** @param name the account's, folded @param now UTC, milliseconds since 1970 @returns the cookie's value */
export function makeDevice(
  key: Uint8Array,
  name: string,
  now: number,
  random: (bytes: number) => Buffer,
): string {
  const expiry = Math.ceil((now + deviceMs) / 1000).toString(36);
  const nonce = randomText(random, nonceBytes);
  return `${expiry}.${nonce}.${signatureOf(key, [name, expiry, nonce])}`;
}

/** Names the browser that a cookie was made for; undefined where it was made for another name, or never, or is over. */
export function readDevice(
  key: Uint8Array,
  name: string,
  now: number,
  cookie: string | undefined,
): string | undefined {
  const [expiry = "", nonce = "", signature = "", more] = cookie?.split(".") ?? [];
  if (more !== undefined || !isSameText(signatureOf(key, [name, expiry, nonce]), signature)) return undefined;
  return Number.parseInt(expiry, 36) * 1000 > now ? nonce : undefined;
}
