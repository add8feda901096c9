import { UserError } from "../errors.ts";
import { FieldReader, type FormInput } from "../fields.ts";
import { randomCharacters } from "../secrets.ts";
import type { Scope } from "./access.ts";

/** A program's token, without the secret text. */
export interface Token {
  readonly id: number;
  readonly name: string;
  readonly scope: Scope;
  /** Its first characters, by which people recognise it. */
  readonly beginning: string;
  /** The name of the person who made it, as in the audit log. */
  readonly made_by: string;
  /** All times are UTC, milliseconds since 1970. */
  readonly created_at: number;
  readonly expires_at: number;
  /** Saved every five minutes at most; undefined for a token that was never used. */
  readonly used_at: number | undefined;
  /** The network address of the last use. */
  readonly used_from: string;
}

interface NewToken {
  readonly name: string;
  readonly scope: Scope;
  readonly days: number;
}

/** The lifetimes that the page offers. Every token expires, because people forget their tokens. */
export const tokenDays = [
  [30, "30 days"],
  [90, "90 days"],
  [365, "1 year"],
  [1095, "3 years"],
] as const;
export const defaultTokenDays = 365;

/** Lets people and secret scanners recognise a token. */
export const tokenPrefix = "platen_";
const characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** In characters after the prefix: about 230 random bits. */
const secretLength = 39;
const visibleLength = tokenPrefix.length + 4;

export function makeTokenText(random: (bytes: number) => Buffer): string {
  return tokenPrefix + randomCharacters(random, characters, secretLength);
}

export function tokenBeginning(text: string): string {
  return text.slice(0, visibleLength);
}

/** @throws UserError "invalid" with a message beside each field that is wrong */
export function parseToken(form: FormInput): NewToken {
  const fields = new FieldReader(form);
  const name = fields.text("name", { label: "Name", required: true, maxLength: 80 });
  const scope = parseScope(form.scope ?? "");
  if (scope === undefined) fields.refuse("scope", "Choose what the token gives access to.");
  const days = Number(form.days ?? defaultTokenDays);
  if (!tokenDays.some(([known]) => known === days))
    fields.refuse("days", "Choose how long the token is valid.");
  fields.check();
  if (scope === undefined) throw new UserError("invalid", "Choose what the token gives access to.");
  return { name, scope, days };
}

/** What tokens for no single record give access to, in words. */
const scopeTexts = {
  read: "read access to everything",
  sign: "signing scripts",
  upload: "uploading drivers",
  metrics: "reading metrics",
} as const;

/** @param text as a form sends it: a key of `scopeTexts`, `client:7` or `printer:7` */
export function parseScope(text: string): Scope | undefined {
  if (Object.hasOwn(scopeTexts, text)) return { kind: text as keyof typeof scopeTexts };
  const [, kind, id] = /^(client|printer):([1-9]\d{0,14})$/.exec(text) ?? [];
  return kind === undefined ? undefined : { kind: kind as "client" | "printer", id: Number(id) };
}

/** A scope in words. @param name of the client or printer; its id by default */
export function scopeText(scope: Scope, name?: string): string {
  return "id" in scope ? `${scope.kind} ${name ?? scope.id}` : scopeTexts[scope.kind];
}
