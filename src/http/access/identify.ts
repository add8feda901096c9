import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { needsSignIn, takesPasswords } from "../../config.ts";
import { anyone, type Identity, nobody } from "../../domain/access/access.ts";
import { type Account, adminName, isNameOfLog } from "../../domain/access/account.ts";
import { type Proxies, roleOfGroups } from "../../domain/access/proxies.ts";
import { UserError } from "../../domain/errors.ts";
import { withoutMarkRuns } from "../../domain/fields.ts";
import type { Asked, Found } from "../router.ts";
import { type Recognised, remember, senderOf } from "../sender.ts";
import { cookieOf } from "./cookies.ts";
import { linkedBy } from "./scopes.ts";

/**
 * Finds out who sent a request, and remembers it.
 * @throws UserError where what they say of themselves cannot be
 */
export function recognise(app: App, request: IncomingMessage, asked: Asked): void {
  remember(request, identify(app, request, asked));
}

/**
 * The first that says who it is counts: a link, which nobody sends by accident and which no cache may mix with anybody's
 * session; then a trusted proxy, a session, a token.
 */
function identify(app: App, request: IncomingMessage, { url, found }: Asked): Recognised {
  const { config, links } = app;
  const { isProxied, address } = senderOf(request);
  const remote = remoteUserOf(request, config.proxies, isProxied);
  if (!needsSignIn(config)) return { identity: anyone };
  const linked = linkedBy(links, url, found);
  if (linked !== undefined) return { identity: linked };
  if (remote !== undefined) return { identity: personOf(app, remote, found) };
  const person = personOfSession(app, request);
  if (person !== undefined) return person;
  // What is open to everybody is so with a token that has expired, too.
  const token = isOpen(found) ? undefined : tokenIn(request);
  const identity = token === undefined ? nobody : app.tokens.identify(token, address);
  return { identity };
}

/** Undefined where the request's cookie names no session. */
function personOfSession({ config, sessions }: App, request: IncomingMessage): Recognised | undefined {
  const cookie = takesPasswords(config) ? cookieOf(request, config, "platen") : undefined;
  const signedIn = cookie === undefined ? undefined : sessions.find(cookie);
  if (signedIn === undefined) return undefined;
  const { id, name, role, isOneTime } = signedIn.account;
  const identity = { kind: "person", name, role, account: id, mustChoosePassword: isOneTime } as const;
  return { identity, signedIn };
}

function isOpen(found: Found): boolean {
  return found.kind === "route" && found.route.rule === "open";
}

/** Somebody as a trusted proxy names them. */
interface RemoteUser {
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
function remoteUserOf(
  request: IncomingMessage,
  { userHeader, groupsHeader }: Proxies,
  isProxied: boolean,
): RemoteUser | undefined {
  if (userHeader === undefined) return undefined;
  const names = [userHeader, ...(groupsHeader === undefined ? [] : [groupsHeader])];
  const forged = isProxied ? undefined : names.find((name) => request.headersDistinct[name] !== undefined);
  if (forged !== undefined)
    throw malformed(
      `The header ${forged} is taken from trusted proxies alone, and this request came from none (TRUSTED_PROXIES).`,
    );
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

/** Undefined where there is none. */
function headerIn({ headersDistinct }: IncomingMessage, name: string, max: number): string | undefined {
  const values = headersDistinct[name];
  if (values === undefined) return undefined;
  if (values.length > 1) throw malformed(`The header ${name} came ${values.length} times.`);
  const bytes = Buffer.from(values[0] ?? "", "latin1");
  const text = withoutMarkRuns(bytes.toString("utf8")).normalize("NFC").trim();
  if (!isUtf8(bytes) || /\p{C}/u.test(text))
    throw malformed(`The header ${name} has characters that no name has.`);
  if (text.length > max) throw malformed(`The header ${name} is longer than ${max} characters.`);
  return text;
}

function malformed(message: string): UserError {
  return new UserError("malformed", message);
}

/** @throws UserError "forbidden" where none of their groups may use this service, or their account is disabled */
function personOf(app: App, { name, groups }: RemoteUser, found: Found): Identity {
  const account = accountFor(app, name);
  const role = account === undefined ? roleOfGroups(app.config.proxies.groups, groups) : account.role;
  if (role !== undefined && !account?.isDisabled) {
    if (account === undefined) return { kind: "person", name, role };
    app.sessions.cameByProxy(account);
    return { kind: "person", name: account.name, role, account: account.id };
  }
  if (isOpen(found)) return nobody;
  if (account?.isDisabled) throw new UserError("forbidden", `The account “${account.name}” is disabled.`);
  throw new UserError(
    "forbidden",
    `You are signed in as “${name}”, and none of your groups may use Platen: ask who runs it (REMOTE_GROUPS).`,
  );
}

/**
 * The Platen account with a name that a proxy gives: its role overrides that of the person's groups.
 * @throws UserError "forbidden" for the administrator's, unless nobody can sign in with its password anyway
 */
function accountFor({ config, store }: App, name: string): Account | undefined {
  const account = store.accounts.findByName(name)?.account;
  if (account?.name !== adminName) return account;
  if (!takesPasswords(config)) return undefined;
  throw new UserError("forbidden", `“${adminName}” signs in here, with the password, and never by a proxy.`);
}

/**
 * What a request holds as its token: as `Bearer`, or as the password of `Basic`, whatever the name. Undefined where it
 * says nothing of itself, and empty where it says something else.
 */
function tokenIn({ headersDistinct }: IncomingMessage): string | undefined {
  const { authorization } = headersDistinct;
  if (authorization === undefined) return undefined;
  const [, scheme = "", text = ""] = /^(Bearer|Basic) ([^ ]+)$/i.exec(authorization.join()) ?? [];
  if (scheme.toLowerCase() !== "basic") return text;
  const pair = Buffer.from(text, "base64").toString("latin1");
  return pair.includes(":") ? pair.slice(pair.indexOf(":") + 1) : "";
}
