import { UserError } from "../errors.ts";
import type { FormInput } from "../fields.ts";

/** In characters (OWASP ASVS 5, 6.2.1 and 6.2.9). All characters are allowed. */
export const passwordLength = { min: 12, max: 256 } as const;

/** The letters of passwords that attackers try first. Digits and other signs make such a password little better. */
const commonPasswords = new Set(
  `abcdefghijkl adminadmin administrator administrateur basketball changeit changeme correcthorsebatterystaple default
  dragon football geheim hallo hallohallo iloveyou letmein letmeinletmein login master microsoft monkey motdepasse
  passwort password passwordpassword platen platenplaten princess printer printserver qazwsxedc qazwsxedcrfv qwerty
  qwertyuiop qwertyuiopas qwertyuiopasdf qwertz qwertzuiop root secret starwars summer sunshine superman superuser
  system test testtest trustno welcome welcomewelcome willkommen windows winter`.split(/\s+/),
);

/** Keyboards compose the same character in different ways (NIST SP 800-63B-4, 3.1.1.2). */
export function normalizePassword(password: string): string {
  return password.normalize("NFKC");
}

/** Why an account cannot have a password, as a sentence without the password; undefined if it can. */
export function passwordProblem(password: string, name: string): string | undefined {
  const { min, max } = passwordLength;
  // Counting the characters of a very long text takes too much time and memory.
  const length = isPossibleLength(password) ? [...password].length : Number.POSITIVE_INFINITY;
  if (length < min) return `The password is too short. Use at least ${min} characters.`;
  if (length > max) return `The password is too long. Use at most ${max} characters.`;
  if (isObvious(normalizePassword(password).toLowerCase(), name.toLowerCase())) {
    return "This password is easy to guess. Choose another one, such as four unrelated words.";
  }
  return undefined;
}

function isObvious(password: string, name: string): boolean {
  if (new Set(password).size <= 3) return true;
  if ("01234567890123456789 98765432109876543210".includes(password)) return true;
  const letters = password.replace(/[^\p{L}]/gu, "");
  const nameLetters = name.replace(/[^\p{L}]/gu, "");
  return (
    commonPasswords.has(letters) ||
    (letters === "" ? isRepeated(password, name) : isRepeated(letters, nameLetters))
  );
}

/** Whether a text consists of one part, repeated. */
function isRepeated(text: string, part: string): boolean {
  return part !== "" && text.replaceAll(part, "") === "";
}

/**
 * Checks a form with the current password, the new one, and the new one again. The caller checks the current password.
 * @throws UserError "invalid" with a message beside the field
 */
export function checkNewPassword({ password = "", chosen = "", again = "" }: FormInput, name: string): void {
  const problem = passwordProblem(chosen, name);
  if (problem !== undefined) throw invalid("chosen", problem);
  if (!isSamePassword(chosen, again)) throw invalid("again", "Type the same new password twice.");
  if (isSamePassword(chosen, password))
    throw invalid("chosen", "The new password must differ from the current one.");
}

function isSamePassword(password: string, text: string): boolean {
  return isPossibleLength(text) && normalizePassword(password) === normalizePassword(text);
}

/** Whether a text is short enough to be normalised and hashed. */
export function isPossibleLength(text: string): boolean {
  return text.length <= 4 * passwordLength.max;
}

function invalid(field: string, message: string): UserError {
  return new UserError("invalid", message, { [field]: message });
}
