import { isSameText, signatureOf } from "../secrets.ts";
import { dayMs } from "../text.ts";

/** A reference to a record. */
interface RecordRef<Kind extends string> {
  readonly kind: Kind;
  readonly id: number;
}

/** The record whose links can be made invalid together. */
export type LinkOwner = RecordRef<"printer" | "client" | "driver">;

/** The account or token that a link was made with. */
export type LinkMaker = RecordRef<"account" | "token">;

/** The record whose script contains a link to a driver's files. The link ends together with that record's links. */
export type LinkSource = RecordRef<"printer" | "client">;

export interface LinkTarget {
  readonly owner: LinkOwner;
  /** The path with its query, without the link. */
  readonly address: string;
  /** The link becomes invalid when this text changes. */
  readonly version: string;
}

/** The readable part of a link. */
export interface LinkTerms {
  /** The link ends when this day begins: UTC, days since 1970. */
  readonly endDay: number;
  /** Undefined for a link made without an account or token. */
  readonly maker?: LinkMaker | undefined;
  readonly source?: LinkSource | undefined;
}

/** In days. */
const usualDays: readonly number[] = [1, 7, 30, 90];

/** In characters of base64url: 132 bits. */
const signatureLength = 22;

/** The lifetimes that the page offers, in days: the usual ones and the setting's. @param setting in days */
export function linkDayChoices(setting: number): number[] {
  return [...new Set([...usualDays, setting])].sort((a, b) => a - b);
}

/**
 * The day at whose beginning a link ends. Links end at midnight (UTC), so that a script with a link stays the same all
 * day.
 * @param now UTC, milliseconds since 1970
 */
export function linkEndDay(now: number, days: number): number {
  return Math.floor(now / dayMs) + 1 + days;
}

/** The value of the `link` parameter: `g1b.a2p7.` and a signature. */
export function makeLink(key: Uint8Array, target: LinkTarget, terms: LinkTerms): string {
  const { owner, address, version } = target;
  const text = termsText(terms);
  const signature = signatureOf(key, [owner.kind, owner.id, address, version, text]);
  return `${text}.${signature.slice(0, signatureLength)}`;
}

/**
 * The terms of a link; undefined for a text that is no link, has a wrong signature, or is a link to another target.
 * @param targetOf returns the target that the link must have
 */
export function readLink(
  key: Uint8Array,
  text: string,
  targetOf: (terms: LinkTerms) => LinkTarget,
): LinkTerms | undefined {
  const pattern =
    /^([1-9a-z][0-9a-z]{2,4})\.(?:([at])([1-9]\d{0,14}))?(?:([pc])([1-9]\d{0,14}))?\.[\w-]{22}$/;
  const [, day, by, byId, from, fromId] = pattern.exec(text) ?? [];
  if (day === undefined) return undefined;
  const terms: LinkTerms = {
    endDay: Number.parseInt(day, 36),
    maker: by ? { kind: by === "a" ? "account" : "token", id: Number(byId) } : undefined,
    source: from ? { kind: from === "p" ? "printer" : "client", id: Number(fromId) } : undefined,
  };
  return isSameText(makeLink(key, targetOf(terms), terms), text) ? terms : undefined;
}

/** Short, because links are part of scripts. */
function termsText({ endDay, maker, source }: LinkTerms): string {
  const short = (record: LinkMaker | LinkSource | undefined) =>
    record === undefined ? "" : `${record.kind.charAt(0)}${record.id}`;
  return `${endDay.toString(36)}.${short(maker)}${short(source)}`;
}
