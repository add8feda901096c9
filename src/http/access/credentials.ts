import type { IncomingMessage } from "node:http";
import { UserError } from "../../domain/errors.ts";

/** In characters: far more than any token takes. */
const longest = 1000;

/**
 * The token that a request holds: `Bearer`, or `Basic` with it as the password, whatever the name. Undefined where it
 * holds none.
 * @throws UserError "unauthorized" where it holds something else: passwords of people do not work here
 */
export function tokenIn({ headersDistinct }: IncomingMessage): string | undefined {
  const [value, ...more] = headersDistinct.authorization ?? [];
  if (value === undefined) return undefined;
  const [, scheme = "", text = ""] = /^(Bearer|Basic) ([^ ]+)$/i.exec(value.slice(0, longest + 1)) ?? [];
  if (more.length > 0 || value.length > longest || text === "") throw notAToken();
  if (scheme.toLowerCase() === "bearer") return text;
  // Node leaves out whatever is not base64, so that one text would have many spellings.
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) throw notAToken();
  const pair = Buffer.from(text, "base64").toString("latin1");
  const at = pair.indexOf(":");
  if (at < 0) throw notAToken();
  return pair.slice(at + 1);
}

function notAToken(): UserError {
  return new UserError(
    "unauthorized",
    "What this request says of itself is no token: send “Authorization: Bearer platen_…”, or a token as the password.",
  );
}
