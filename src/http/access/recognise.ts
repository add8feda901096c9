import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { needsSignIn, takesPasswords } from "../../config.ts";
import { anyone, type Identity, nobody } from "../../domain/access.ts";
import { type Account, adminName, isSameName } from "../../domain/account.ts";
import { UserError } from "../../domain/errors.ts";
import { roleOfGroups } from "../../domain/proxies.ts";
import { siteOf } from "../../domain/site.ts";
import type { Asked, Found } from "../router.ts";
import { isLoopbackOnly } from "../service-url.ts";
import { type Asker, askerOf, remember } from "./asker.ts";
import { cookieOf } from "./cookies.ts";
import { linkedBy } from "./reach.ts";
import { type RemoteUser, remoteUserOf } from "./remote-user.ts";

/** Somebody, with the session that says who they are. */
type Recognised = Pick<Asker, "identity" | "signedIn">;

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
  const { isProxied, address } = askerOf(request);
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
