import { UserError } from "../errors.ts";
import { FieldReader, type FormInput } from "../fields.ts";
import { randomCharacters } from "../secrets.ts";
import type { Scope } from "./access.ts";

/** A program's token, without its text. */
export interface Token {
  readonly id: number;
  readonly name: string;
  readonly scope: Scope;
  /** Its first characters, by which people know it again. */
  readonly beginning: string;
  /** The name of who made it. */
  readonly made_by: string;
  /** This and the others: UTC, milliseconds since 1970. */
  readonly created_at: number;
  readonly expires_at: number;
  /** Undefined where it never was; a few minutes late. */
  readonly used_at: number | undefined;
  /** The address that it was used from last. */
  readonly used_from: string;
}

/** What a form asks for. */
interface NewToken {
  readonly name: string;
  readonly scope: Scope;
  readonly days: number;
}

/** How long a token can hold: none holds for ever, since nobody remembers those. */
export const tokenDays = [
  [30, "30 days"],
  [90, "90 days"],
  [365, "1 year"],
  [1095, "3 years"],
] as const;
export const usualTokenDays = 365;

/** What every token begins with, so that people and secret scanners know one by it. */
export const tokenPrefix = "platen_";
const characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Behind the prefix: some 230 random bits. */
const secretLength = 39;
const shownLength = tokenPrefix.length + 4;

export function makeTokenText(random: (bytes: number) => Buffer): string {
  return tokenPrefix + randomCharacters(random, characters, secretLength);
}

export function tokenBeginning(text: string): string {
  return text.slice(0, shownLength);
}

/** @throws UserError "invalid" with a message beside each field that is wrong */
export function parseToken(form: FormInput): NewToken {
  const fields = new FieldReader(form);
  const name = fields.text("name", { label: "Name", required: true, maxLength: 80 });
  const scope = scopeIn(form.scope ?? "");
  if (scope === undefined) fields.refuse("scope", "Choose what the token reaches.");
  const days = Number(form.days ?? usualTokenDays);
  if (!tokenDays.some(([known]) => known === days)) fields.refuse("days", "Choose how long the token holds.");
  fields.check();
  if (scope === undefined) throw new UserError("invalid", "Choose what the token reaches.");
  return { name, scope, days };
}

/** As a form sends it: `read`, `client:7` or `printer:7`. */
export function scopeIn(text: string): Scope | undefined {
  if (text === "read") return { kind: "read" };
  const [, kind, id] = /^(client|printer):([1-9]\d{0,14})$/.exec(text) ?? [];
  return kind === undefined ? undefined : { kind: kind as "client" | "printer", id: Number(id) };
}

/** In words. @param name of the client or the printer; its number unless it is given */
export function scopeText(scope: Scope, name?: string): string {
  return scope.kind === "read" ? "everything that can be read" : `${scope.kind} ${name ?? scope.id}`;
}
