import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** A text that appears in no log, JSON or error; only `reveal` returns it. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }
}

/** An installation's key for one purpose: HKDF-SHA256 of its secret. */
export function keyFor(purpose: string, secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", `platen ${purpose}`, 32));
}

/** HMAC-SHA256 of the parts, in base64url. */
export function signatureOf(key: Uint8Array, parts: readonly unknown[]): string {
  return createHmac("sha256", key).update(JSON.stringify(parts)).digest("base64url");
}

/** Compares two texts in constant time, so that the duration does not reveal where they differ. */
export function isSameText(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A random text in base64url. @param bytes of randomness */
export function randomText(random: (bytes: number) => Buffer, bytes: number): string {
  return random(bytes).toString("base64url");
}

/** A random text. @param alphabet at most 256 characters; unbiased only if their number is a power of two */
export function randomCharacters(
  random: (bytes: number) => Buffer,
  alphabet: string,
  length: number,
): string {
  return Array.from(random(length), (byte) => alphabet.charAt(byte % alphabet.length)).join("");
}

/** The digest saved in place of a secret: it identifies the secret and does not reveal it. */
export function secretDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
