import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { needsSignIn, takesPasswords } from "../../config.ts";
import { anyone, type Identity, nobody } from "../../domain/access.ts";
import { type Account, adminName, isNameOfLog, isSameName } from "../../domain/account.ts";
import { UserError } from "../../domain/errors.ts";
import { withoutMarkRuns } from "../../domain/fields.ts";
import { type Proxies, roleOfGroups } from "../../domain/proxies.ts";
import { siteOf } from "../../domain/site.ts";
import type { Asked, Found } from "../router.ts";
import { isLoopbackOnly } from "../service-url.ts";
import { cookieOf } from "./cookies.ts";
import { linkedBy } from "./reach.ts";
import { remember, type Sender, senderOf } from "./sender.ts";

/** Somebody, with the session that says who they are. */
type Recognised = Pick<Sender, "identity" | "signedIn">;

/**
 * Finds out who sent a request, and remembers it.
 * @throws UserError where what they say of themselves cannot be
 */
export function recognise(app: App, request: IncomingMessage, asked: Asked): void {
  remember(request, { ...identify(app, request, asked), isOpenToAll: isOpenToAll(app.config) });
}

/** Whoever reaches the service may change everything, and more than this machine may reach it. */
export function isOpenToAll(config: App["config"]): boolean {
  return !needsSignIn(config) && !isLoopbackOnly(config);
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
  const identity = token === undefined ? nobody : app.tokens.identify(token, address, siteOf(address));
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
 * What is said of somebody here counts more than their groups.
 * @throws UserError "forbidden" where a name only looks like an account's: whoever chose it at the proxy would be it
 */
function accountFor({ config, store }: App, name: string): Account | undefined {
  const account = store.accounts.findByName(name)?.account;
  if (account === undefined) return undefined;
  if (account.name === adminName && !takesPasswords(config)) return undefined;
  if (account.name === adminName)
    throw new UserError(
      "forbidden",
      `“${adminName}” signs in here, with the password, and never by a proxy.`,
    );
  if (isSameName(account.name, name)) return account;
  throw new UserError("forbidden", `The name “${name}” looks like that of the account “${account.name}”.`);
}

/** In characters: far more than any token takes. */
const longestToken = 1000;

/**
 * The token that a request holds: `Bearer`, or `Basic` with it as the password, whatever the name. Undefined where it
 * holds none.
 * @throws UserError "unauthorized" where it holds something else: passwords of people do not work here
 */
function tokenIn({ headersDistinct }: IncomingMessage): string | undefined {
  const [value, ...more] = headersDistinct.authorization ?? [];
  if (value === undefined) return undefined;
  const [, scheme = "", text = ""] = /^(Bearer|Basic) ([^ ]+)$/i.exec(value.slice(0, longestToken + 1)) ?? [];
  if (more.length > 0 || value.length > longestToken || text === "") throw notAToken();
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
