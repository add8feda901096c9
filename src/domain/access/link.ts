import { isSameText, signatureOf } from "../secrets.ts";
import { dayMs } from "../text.ts";

/** A record with a number: `printer 7`. */
interface Numbered<Kind extends string> {
  readonly kind: Kind;
  readonly id: number;
}

/** The record whose links can be made invalid together. */
export type LinkOwner = Numbered<"printer" | "client" | "driver">;

/** Whoever a link was made for: a person with an account, or a program with a token. */
export type LinkMaker = Numbered<"account" | "token">;

/** The record whose script brings a link to a driver: with its links this one ends, too. */
export type LinkBringer = Numbered<"printer" | "client">;

/** What a link leads to. */
export interface LinkTarget {
  readonly owner: LinkOwner;
  /** The path with its query, without the link. */
  readonly address: string;
  /** What it must still be: whatever ends links when it changes. */
  readonly mark: string;
}

/** What a link says of itself. */
export interface LinkTerms {
  /** It ends when this day begins: UTC, days since 1970. */
  readonly endDay: number;
  /** Undefined where no record of ours says whether they still may. */
  readonly maker?: LinkMaker | undefined;
  readonly bringer?: LinkBringer | undefined;
}

/** How long a link can hold, in days. */
const usualDays: readonly number[] = [1, 7, 30, 90];

/** Of base64url: 128 bits. */
const signatureLength = 22;

/** How long a link can be made to hold: the usual choices, and the setting's. @param setting in days */
export function linkDays(setting: number): number[] {
  return [...new Set([...usualDays, setting])].sort((a, b) => a - b);
}

/**
 * When a link ends that holds for some days: at a day's end, so that whatever carries one stays the same all day.
 * @param now UTC, milliseconds since 1970
 */
export function endOfLink(now: number, days: number): number {
  return Math.floor(now / dayMs) + 1 + days;
}

/** The value of a link's parameter: `g1b.a2p7.` and a signature. */
export function makeLink(key: Uint8Array, target: LinkTarget, terms: LinkTerms): string {
  const { owner, address, mark } = target;
  const said = termsText(terms);
  const signature = signatureOf(key, [owner.kind, owner.id, address, mark, said]);
  return `${said}.${signature.slice(0, signatureLength)}`;
}

/**
 * What a link says, where it was made here.
 * @param targetOf what a link of these terms leads to
 * @returns undefined for what is no link, or was made for something else
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
    bringer: from ? { kind: from === "p" ? "printer" : "client", id: Number(fromId) } : undefined,
  };
  return isSameText(makeLink(key, targetOf(terms), terms), text) ? terms : undefined;
}

/** Scripts hold it, and have little room: days and first letters. */
function termsText({ endDay, maker, bringer }: LinkTerms): string {
  const short = (record: LinkMaker | LinkBringer | undefined) =>
    record === undefined ? "" : `${record.kind.charAt(0)}${record.id}`;
  return `${endDay.toString(36)}.${short(maker)}${short(bringer)}`;
}
