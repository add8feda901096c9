import { UserError } from "../../domain/errors.ts";

/** What to do with an archive that is of an unusual kind. */
export const rezip =
  "Unpack it and pack the folder again as an ordinary ZIP (in Windows: Send to → Compressed folder), then upload that.";

/** A refusal in whole sentences. */
export function refuse(message: string): UserError {
  return new UserError("invalid", message);
}

/** A refusal of an archive that contradicts itself. @param why a clause that says in what */
export function damaged(why: string): UserError {
  return refuse(`This ZIP is damaged: ${why}. Download it again and upload it once more.`);
}
