import { FieldReader, type FormInput } from "../fields.ts";
import { dayMs } from "../text.ts";
import type { Role } from "./access.ts";

/** The account whose password is the setting `ADMIN_PASSWORD`. */
export const adminName = "admin";

/** What an account made on the page may do; there is one administrator, whose password the setting alone changes. */
export const accountRoles = ["viewer", "operator"] as const;
export type AccountRole = (typeof accountRoles)[number];

/** Who can sign in. Times are UTC, in milliseconds since 1970. */
export interface Account {
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  /** Whether its password was made by Platen, and is to be changed before anything else. */
  readonly isOneTime: boolean;
  readonly isDisabled: boolean;
  readonly created_at: number;
  readonly password_at: number;
  /** 0 for who was never here. */
  readonly seen_at: number;
}

/** A browser in which somebody is signed in. */
export interface Session {
  readonly id: number;
  readonly account_id: number;
  readonly created_at: number;
  readonly seen_at: number;
  /** From where, when it began. */
  readonly address: string;
  readonly browser: string;
}

/** A one-time password holds for so long. */
const oneTimeMs = 7 * dayMs;

const maxNameLength = 64;
const plainName = /^[a-z0-9][a-z0-9._@-]*$/i;
/** Whom the audit log names so is Platen itself, whoever need not sign in, somebody unknown, or more than one. */
const namesOfLog = ["an unknown name", "anyone", "nobody", "platen", "several"];
const reserved = [...namesOfLog, adminName, "administrator", "root", "system"];

/** @throws UserError "invalid" with a message for each field */
export function parseAccount(input: FormInput): { readonly name: string; readonly role: AccountRole } {
  const fields = new FieldReader(input);
  const name = fields.text("name", { label: "The name", required: true, maxLength: maxNameLength });
  if (name !== "" && !plainName.test(name)) {
    fields.refuse(
      "name",
      "The name has letters from a to z, digits and . _ - @ alone, and begins with a letter or digit.",
    );
  }
  if (reserved.includes(accountNameKey(name))) fields.refuse("name", `“${name}” is kept for Platen itself.`);
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

/** Two names with the same key are the same account. Other letters than those from A to Z have no case here. */
export function accountNameKey(name: string): string {
  return name.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Whether the audit log has a name for somebody else, or for a program. */
export function isNameOfLog(name: string): boolean {
  const key = accountNameKey(name).replace(/\s+/g, " ");
  return namesOfLog.includes(key) || /^(?:token|link) /.test(key);
}

/** Whether a password that Platen made holds no more. */
export function isOneTimeOver({ isOneTime, password_at }: Account, now: number): boolean {
  return isOneTime && password_at + oneTimeMs <= now;
}
