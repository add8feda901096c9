import { FieldReader, type FormInput } from "../fields.ts";
import { dayMs } from "../text.ts";
import type { Role } from "./access.ts";

/** The account whose password is the setting `ADMIN_PASSWORD`. */
export const adminName = "admin";

/** The roles of accounts made on the page. The only administrator is `adminName`. */
export const accountRoles = ["viewer", "operator"] as const;
export type AccountRole = (typeof accountRoles)[number];

/** A person who can sign in. Times are UTC, in milliseconds since 1970. */
export interface Account {
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  /** The OpenID Connect provider where the person signs in; empty for an account that Platen made. */
  readonly issuer: string;
  /** Whether Platen made the password: the person must change it before anything else. */
  readonly hasOneTimePassword: boolean;
  readonly isDisabled: boolean;
  readonly created_at: number;
  /** When the password was last set. */
  readonly password_at: number;
  /** 0 for an account that was never used. */
  readonly seen_at: number;
}

/** One browser in which a person is signed in. */
export interface Session {
  readonly id: number;
  readonly account_id: number;
  readonly created_at: number;
  readonly seen_at: number;
  /** The network address at sign-in. */
  readonly address: string;
  readonly browser: string;
}

/** How long a one-time password is valid. */
const oneTimeMs = 7 * dayMs;

const maxNameLength = 64;
const plainName = /^[a-z0-9][a-z0-9._@-]*$/i;
/** Names that the audit log uses for Platen itself, for senders without an account, and for several people at once. */
const logNames = ["an unknown name", "anyone", "nobody", "platen", "several"];
const reserved = [...logNames, adminName, "administrator", "root", "system"];

/** @throws UserError "invalid" with a message for each field */
export function parseAccount(input: FormInput): { readonly name: string; readonly role: AccountRole } {
  const fields = new FieldReader(input);
  const name = fields.text("name", { label: "The name", required: true, maxLength: maxNameLength });
  if (name !== "" && !plainName.test(name)) {
    fields.refuse("name", "Use only a–z, digits and . _ - @. Start with a letter or digit.");
  }
  if (reserved.includes(accountNameKey(name)))
    fields.refuse("name", `“${name}” is reserved. Choose another.`);
  const role = fields.choice("role", "The role", accountRoles);
  fields.check();
  return { name, role };
}

/** @throws UserError "invalid" */
export function parseAccountRole(input: FormInput): AccountRole {
  const fields = new FieldReader(input);
  const role = fields.choice("role", "The role", accountRoles);
  fields.check();
  return role;
}

/** Two names with the same key are the same account. Only the letters A to Z are compared without regard to case. */
export function accountNameKey(name: string): string {
  return name.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Whether the audit log uses a name for anything but an account. */
export function isReservedLogName(name: string): boolean {
  const key = accountNameKey(name).replace(/\s+/g, " ");
  return logNames.includes(key) || /^(?:token|link) /.test(key);
}

/** @param now UTC, milliseconds since 1970 */
export function isOneTimePasswordExpired({ hasOneTimePassword, password_at }: Account, now: number): boolean {
  return hasOneTimePassword && password_at + oneTimeMs <= now;
}
