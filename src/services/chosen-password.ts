import { UserError } from "../domain/errors.ts";
import { normalPassword, passwordLengths, passwordProblem } from "../domain/password.ts";

/** What somebody sends who wants another password. */
export interface ChosenPassword {
  readonly password: string;
  readonly chosen: string;
  readonly again: string;
}

/** What is wrong with a password that somebody chose, as far as it can be said without a hash. */
export function chosenProblem(
  { password, chosen, again }: ChosenPassword,
  name: string,
): UserError | undefined {
  const problem = passwordProblem(chosen, name);
  if (problem !== undefined) return invalid("chosen", problem);
  if (!isSame(chosen, again)) return invalid("again", "The two are not the same.");
  if (isSame(chosen, password))
    return invalid("chosen", "This is the same as the password above: choose another one.");
  return undefined;
}

/** Whether a text is the same password, however it was composed; one of many kilobytes is not even looked at. */
function isSame(password: string, text: string): boolean {
  return text.length <= 4 * passwordLengths.most && normalPassword(password) === normalPassword(text);
}

/** Beside a field of the form. */
export function invalid(field: string, message: string): UserError {
  return new UserError("invalid", message, { [field]: message });
}
