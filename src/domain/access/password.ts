import { UserError } from "../errors.ts";
import type { FormInput } from "../fields.ts";

/** In characters (OWASP ASVS 5, 6.2.1 and 6.2.9); there is no rule about which. */
export const passwordLengths = { least: 12, max: 256 } as const;

/** What is tried first wherever a password is asked for; digits and signs behind one of them change little. */
const tried = new Set(
  `abcdefghijkl adminadmin administrator administrateur basketball changeit changeme correcthorsebatterystaple default
  dragon football geheim hallo hallohallo iloveyou letmein letmeinletmein login master microsoft monkey motdepasse
  passwort password passwordpassword platen platenplaten princess printer printserver qazwsxedc qazwsxedcrfv qwerty
  qwertyuiop qwertyuiopas qwertyuiopasdf qwertz qwertzuiop root secret starwars summer sunshine superman superuser
  system test testtest trustno welcome welcomewelcome willkommen windows winter`.split(/\s+/),
);

/** The same password however a keyboard composed it (NIST SP 800-63B-4, 3.1.1.2). */
export function normalPassword(password: string): string {
  return password.normalize("NFKC");
}

/**
 * Why a password cannot be taken, as a sentence that does not repeat it; undefined where it can.
 * @param name the account's
 */
export function passwordProblem(password: string, name: string): string | undefined {
  const { least, max } = passwordLengths;
  // A text of many megabytes is not even counted.
  const length = isPossible(password) ? [...password].length : Number.POSITIVE_INFINITY;
  if (length < least) return `The password has ${length} characters; it needs ${least} or more.`;
  if (length > max) return `The password is too long; ${max} characters are possible.`;
  if (isObvious(normalPassword(password).toLowerCase(), name.toLowerCase())) {
    return "This password is among the first that anybody would try: choose another one, such as four words that have nothing to do with each other.";
  }
  return undefined;
}

function isObvious(password: string, name: string): boolean {
  if (new Set(password).size <= 3) return true;
  if ("01234567890123456789 98765432109876543210".includes(password)) return true;
  const letters = password.replace(/[^\p{L}]/gu, "");
  const named = name.replace(/[^\p{L}]/gu, "");
  return tried.has(letters) || (letters === "" ? isRepeated(password, name) : isRepeated(letters, named));
}

/** Whether a text is another one, however often. */
function isRepeated(text: string, part: string): boolean {
  return part !== "" && text.replaceAll(part, "") === "";
}

/**
 * Checks a form in which somebody chooses a password (the current one, the chosen one, and that again), as far as no
 * hash is needed.
 * @throws UserError "invalid" with a message beside the field
 */
export function checkChosen({ password = "", chosen = "", again = "" }: FormInput, name: string): void {
  const problem = passwordProblem(chosen, name);
  if (problem !== undefined) throw invalid("chosen", problem);
  if (!isSame(chosen, again)) throw invalid("again", "The two are not the same.");
  if (isSame(chosen, password))
    throw invalid("chosen", "This is the same as the password above: choose another one.");
}

/** Whether a text is the same password, however it was composed. */
function isSame(password: string, text: string): boolean {
  return isPossible(text) && normalPassword(password) === normalPassword(text);
}

/** Whether a text is short enough for a password; one of many kilobytes is not even looked at. */
export function isPossible(text: string): boolean {
  return text.length <= 4 * passwordLengths.max;
}

/** Beside a field of the form. */
function invalid(field: string, message: string): UserError {
  return new UserError("invalid", message, { [field]: message });
}
