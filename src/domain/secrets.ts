import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** A key of an installation for one purpose alone: HKDF-SHA256 of its secret. */
export function keyFor(purpose: string, secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", `platen ${purpose}`, 32));
}

/** HMAC-SHA256 over all of the parts, in base64url. */
export function signatureOf(key: Uint8Array, parts: readonly unknown[]): string {
  return createHmac("sha256", key).update(JSON.stringify(parts)).digest("base64url");
}

/** Whether two texts are the same, in a time that tells nothing of where they differ. */
export function isSameText(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A text that nobody can guess, in base64url. */
export function randomText(random: (bytes: number) => Buffer, bytes: number): string {
  return random(bytes).toString("base64url");
}

/** A text of characters of an alphabet, of at most 256, each one random. */
export function randomCharacters(
  random: (bytes: number) => Buffer,
  alphabet: string,
  length: number,
): string {
  return Array.from(random(length), (byte) => alphabet.charAt(byte % alphabet.length)).join("");
}

/** What is kept of a text that lets somebody in: it is found by that, and nothing leads back. */
export function secretDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
