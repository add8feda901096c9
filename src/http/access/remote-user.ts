import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { isNameOfLog } from "../../domain/account.ts";
import { UserError } from "../../domain/errors.ts";
import { withoutMarkRuns } from "../../domain/fields.ts";
import type { Proxies } from "../../domain/proxies.ts";

/** Somebody as a trusted proxy names them. */
export interface RemoteUser {
  readonly name: string;
  readonly groups: readonly string[];
}

/** In characters. */
const longestName = 120;
const longestGroups = 8000;

/**
 * Whom a trusted proxy names; undefined where it names nobody.
 * @throws UserError "malformed" where somebody else does, or the name cannot be one
 */
export function remoteUserOf(
  request: IncomingMessage,
  { userHeader, groupsHeader }: Proxies,
  isProxied: boolean,
): RemoteUser | undefined {
  if (userHeader === undefined) return undefined;
  const names = [userHeader, ...(groupsHeader === undefined ? [] : [groupsHeader])];
  for (const name of names) refuseForged(request, name, isProxied);
  const user = headerIn(request, userHeader, longestName);
  const groups = groupsHeader === undefined ? undefined : headerIn(request, groupsHeader, longestGroups);
  if (user === undefined) return undefined;
  if (user === "") throw malformed(`The header ${userHeader} is empty.`);
  if (isNameOfLog(user))
    throw malformed(`The name “${user}” is not taken from a proxy: the audit log has it for somebody else.`);
  return { name: user, groups: groupsIn(groups ?? "") };
}

/**
 * Authelia and oauth2-proxy write commas between groups, authentik bars, some others semicolons. What is written with one
 * of them may have the others in its groups' names, which must not become groups of their own.
 */
function groupsIn(text: string): string[] {
  const separator = ["|", ";"].find((sign) => text.includes(sign)) ?? ",";
  const listed = text.split(separator).map((group) => group.trim());
  return listed.filter((group) => group !== "");
}

function refuseForged({ headersDistinct }: IncomingMessage, name: string, isProxied: boolean): void {
  const folded = name.replaceAll("-", "_");
  // A proxy that takes both spellings for one may have passed on what it would have replaced.
  const twin = Object.keys(headersDistinct).find(
    (sent) => sent !== name && sent.replaceAll("-", "_") === folded,
  );
  if (twin !== undefined) throw malformed(`The header ${twin} is not taken: it looks like ${name}.`);
  if (isProxied || headersDistinct[name] === undefined) return;
  throw malformed(
    `The header ${name} is taken from trusted proxies alone, and this request came from none (TRUSTED_PROXIES).`,
  );
}

/** Undefined where there is none. */
function headerIn({ headersDistinct }: IncomingMessage, name: string, most: number): string | undefined {
  const values = headersDistinct[name];
  if (values === undefined) return undefined;
  if (values.length > 1) throw malformed(`The header ${name} came ${values.length} times.`);
  const bytes = Buffer.from(values[0] ?? "", "latin1");
  const text = withoutMarkRuns(bytes.toString("utf8")).normalize("NFC").trim();
  if (!isUtf8(bytes) || /\p{C}/u.test(text))
    throw malformed(`The header ${name} has characters that no name has.`);
  if (text.length > most) throw malformed(`The header ${name} is longer than ${most} characters.`);
  return text;
}

function malformed(message: string): UserError {
  return new UserError("malformed", message);
}
