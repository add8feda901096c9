import { isSameText, signatureOf } from "../secrets.ts";
import { dayMs } from "../text.ts";

/** A reference to a record. */
interface RecordRef<Kind extends string> {
  readonly kind: Kind;
  readonly id: number;
}

/** The record on whose page a link is listed. */
export type LinkOwner = RecordRef<"printer" | "client" | "driver">;

/** Who made a link: an account, a token, or a person whom a proxy names and who has no account (`none`). */
export interface LinkMaker extends RecordRef<"account" | "token" | "none"> {
  /** As in the audit log. */
  readonly name: string;
  /** Whether the person was an operator or admin when they made the link. */
  readonly isOperator?: boolean;
}

/** A saved link: it lets machines use one address, or those in one script, without signing in. */
export interface Link {
  /** 0 for a link of version 1.0, which is not saved. */
  readonly id: number;
  readonly maker: LinkMaker;
  /** The path of the file, or of the script with the addresses. It begins with the path of their record. */
  readonly path: string;
  /** Whether it is for the addresses in the script. */
  readonly isInScript: boolean;
  /** It ends when this day begins: UTC, days since 1970. */
  readonly endDay: number;
  /** UTC, milliseconds since 1970. */
  readonly created_at: number;
}

/** A link, and why Platen refuses it now: its record is deleted, or its maker has no access. */
export interface ListedLink extends Link {
  readonly problem: "No access" | "Deleted" | undefined;
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

/** The record in the path of a link, such as `/printers/7/publish`; a printer 0 for any other path. */
export function ownerIn(path: string): LinkOwner {
  const [, kind, id] = /^\/(printer|client|driver)s\/(\d+)\//.exec(path) ?? [];
  return { kind: (kind ?? "printer") as LinkOwner["kind"], id: Number(id ?? 0) };
}

/**
 * The value of the `link` parameter, short because scripts have many: `1b-g1b.` and a signature. A record of a script is
 * extended each day, so each text has its own end.
 * @param address the path with its query, without the link
 */
export function signLink(
  key: Uint8Array,
  { id, created_at }: Pick<Link, "id" | "created_at">,
  endDay: number,
  address: string,
): string {
  const terms = `${id.toString(36)}-${endDay.toString(36)}`;
  return `${terms}.${shortSignature(key, [terms, created_at, address])}`;
}

/** The terms in a link's text, whose signature is not checked yet. */
export function termsOf(text: string): { readonly id: number; readonly endDay: number } | undefined {
  const [, id, day] = /^([1-9a-z][0-9a-z]{0,9})-([1-9a-z][0-9a-z]{2,4})\.[\w-]{22}$/.exec(text) ?? [];
  return id && day ? { id: Number.parseInt(id, 36), endDay: Number.parseInt(day, 36) } : undefined;
}

/** The terms of a link that version 1.0 made. */
interface OldTerms {
  readonly endDay: number;
  readonly maker: RecordRef<"account" | "token"> | undefined;
}

/**
 * Reads a link of version 1.0, which is signed and not saved. The last ends `LINK_DAYS` (at most 1,000 days) after an
 * update from that version; then this can go.
 * @param versionOf returns what the signature says about the link's record and that of the script that contains it
 */
export function readOldLink(
  key: Uint8Array,
  text: string,
  address: string,
  versionOf: (records: readonly LinkOwner[]) => string,
): OldTerms | undefined {
  const pattern =
    /^(([1-9a-z][0-9a-z]{2,4})\.(?:([at])([1-9]\d{0,14}))?(?:([pc])([1-9]\d{0,14}))?)\.([\w-]{22})$/;
  const [, terms, day = "", by, byId, from, fromId, signature = ""] = pattern.exec(text) ?? [];
  const script = from ? [{ kind: from === "p" ? "printer" : "client", id: Number(fromId) } as const] : [];
  const owner = ownerIn(address);
  const parts = [owner.kind, owner.id, address, versionOf([owner, ...script]), terms];
  if (terms === undefined || !isSameText(shortSignature(key, parts), signature)) return undefined;
  const maker = by ? ({ kind: by === "a" ? "account" : "token", id: Number(byId) } as const) : undefined;
  return { endDay: Number.parseInt(day, 36), maker };
}

function shortSignature(key: Uint8Array, parts: readonly unknown[]): string {
  return signatureOf(key, parts).slice(0, signatureLength);
}
