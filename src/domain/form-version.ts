import { createHash } from "node:crypto";
import { UserError } from "./errors.ts";
import { cleanText, type FormInput } from "./fields.ts";

/** Names the values that a form is opened with; a form sends it back as `opened`. */
export function openedName(values: FormInput): string {
  const entries = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(entries)).digest("hex").slice(0, 16);
}

/**
 * @param opened what a form sent back; nothing is checked for a form that does not say
 * @throws UserError "stale" where the record has other values by now
 */
export function checkOpened(opened: string | undefined, now: FormInput): void {
  if (opened === undefined || opened === openedName(now)) return;
  throw new UserError(
    "stale",
    "Somebody else has saved this since you opened it. Nothing of yours is saved.",
  );
}

/** The fields of a record whose values are not those that were sent, each with its value now. */
export function differencesFrom(sent: FormInput, now: FormInput): FormInput {
  const others = Object.entries(now).filter(
    ([name, value]) => cleanText(sent[name] ?? "", true) !== cleanText(value ?? "", true),
  );
  return Object.fromEntries(others);
}
