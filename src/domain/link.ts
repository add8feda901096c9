import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** The record whose links can be made invalid together. */
export interface LinkOwner {
  readonly kind: "printer" | "client" | "driver";
  readonly id: number;
}

/** What a link leads to. */
export interface LinkTarget {
  readonly owner: LinkOwner;
  /** The path with its query, without the link. */
  readonly address: string;
  /** What it must still be: how often the owner's links were made invalid, and an archive's digest. */
  readonly mark: string;
}

/** A link's value as it came. */
interface ReadLink {
  /** UTC, seconds since 1970. */
  readonly expires: number;
  readonly signature: string;
}

/** How long a link can hold, in days. */
export const linkDays = [
  [1, "1 day"],
  [7, "7 days"],
  [30, "30 days"],
  [90, "90 days"],
] as const;

const daySeconds = 24 * 60 * 60;
/** Of base64url: 128 bits. */
const signatureLength = 22;

/** The key that all links of an installation are signed with. */
export function linkKey(secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", "platen links", 32));
}

/**
 * When a link ends that holds for some days: at a day's end, so that whatever carries one stays the same all day.
 * @param now and the answer: UTC, seconds since 1970
 */
export function endOfLink(now: number, days: number): number {
  return (Math.floor(now / daySeconds) + 1 + days) * daySeconds;
}

/** The value of a link's parameter. @param expires UTC, seconds since 1970 */
export function makeLink(key: Uint8Array, target: LinkTarget, expires: number): string {
  return `${expires.toString(36)}.${signatureOf(key, target, expires)}`;
}

/** Undefined where the text is none. */
export function readLink(text: string): ReadLink | undefined {
  if (text.length > 40) return undefined;
  const [, expires, signature] = /^([1-9a-z][0-9a-z]{0,8})\.([\w-]{22})$/.exec(text) ?? [];
  if (expires === undefined || signature === undefined) return undefined;
  return { expires: Number.parseInt(expires, 36), signature };
}

/** Whether a link was made here, for just this. */
export function isSigned(key: Uint8Array, target: LinkTarget, { expires, signature }: ReadLink): boolean {
  return timingSafeEqual(Buffer.from(signatureOf(key, target, expires)), Buffer.from(signature));
}

function signatureOf(key: Uint8Array, { owner, address, mark }: LinkTarget, expires: number): string {
  const signed = JSON.stringify([owner.kind, owner.id, address, mark, expires]);
  return createHmac("sha256", key).update(signed).digest("base64url").slice(0, signatureLength);
}
