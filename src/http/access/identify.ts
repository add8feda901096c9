import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { acceptsPasswords, canSignIn, hasSessions, needsSignIn } from "../../config.ts";
import { anyone, type Identity, unauthenticated } from "../../domain/access/access.ts";
import { type Account, adminName, isReservedLogName } from "../../domain/access/account.ts";
import { type Proxies, roleOfGroups } from "../../domain/access/proxies.ts";
import { UserError } from "../../domain/errors.ts";
import { withoutMarkRuns } from "../../domain/fields.ts";
import type { RequestTarget, RouteMatch } from "../router.ts";
import { type IdentifiedSender, senderOf } from "../sender.ts";
import { cookieOf } from "./cookies.ts";
import { identifyLink } from "./scopes.ts";

/**
 * Identifies the sender by the first of these that the request has: a link, the user that a trusted proxy names, a
 * session, a token. The link comes first: clients never send one by accident, and caches must not mix its answer with
 * that of a session.
 * @throws UserError for a link, token or proxy header that is not valid
 */
export function identifySender(
  app: App,
  request: IncomingMessage,
  { url, match }: RequestTarget,
): IdentifiedSender {
  const { config, links } = app;
  const { isProxied, address } = senderOf(request);
  const remote = remoteUserOf(request, config.proxies, isProxied);
  if (!needsSignIn(config)) return { identity: anyone };
  const linked = identifyLink(links, url, match);
  if (linked !== undefined) return { identity: linked };
  if (remote !== undefined) return { identity: personOf(app, remote, match) };
  const signedIn = senderInSession(app, request);
  if (signedIn !== undefined) return signedIn;
  // An open route does not refuse an expired token.
  const token = isOpen(match) ? undefined : tokenIn(request);
  return { identity: token === undefined ? unauthenticated : app.tokens.identify(token, address) };
}

/** Undefined without the cookie of a valid session. */
function senderInSession({ config, sessions }: App, request: IncomingMessage): IdentifiedSender | undefined {
  const cookie = hasSessions(config) ? cookieOf(request, config, "platen") : undefined;
  const signedIn = cookie === undefined ? undefined : sessions.find(cookie);
  if (signedIn === undefined) return undefined;
  const { id, name, role, issuer, hasOneTimePassword } = signedIn.account;
  // The settings may have changed since the sign-in.
  if (issuer === "" ? !acceptsPasswords(config) : !canSignIn(config, signedIn.account)) return undefined;
  const identity = {
    kind: "person",
    name,
    role,
    account: id,
    mustChoosePassword: hasOneTimePassword,
  } as const;
  return { identity, signedIn };
}

function isOpen(match: RouteMatch): boolean {
  return match.kind === "route" && match.route.rule === "open";
}

/** The user that a trusted proxy names. */
interface RemoteUser {
  readonly name: string;
  readonly groups: readonly string[];
}

const maxNameCharacters = 120;
const maxGroupsCharacters = 8000;

/**
 * Undefined if no proxy names a user.
 * @throws UserError "malformed" for a header from an untrusted sender, or an impossible name
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
      `Only trusted proxies may send the header ${forged} (TRUSTED_PROXIES). This request came from another address.`,
    );
  const user = headerIn(request, userHeader, maxNameCharacters);
  const groups =
    groupsHeader === undefined ? undefined : headerIn(request, groupsHeader, maxGroupsCharacters);
  if (user === undefined) return undefined;
  if (user === "") throw malformed(`The header ${userHeader} is empty.`);
  if (isReservedLogName(user))
    throw malformed(`The name “${user}” is reserved for the audit log and cannot come from a proxy.`);
  return { name: user, groups: groupsIn(groups ?? "") };
}

/**
 * Authelia and oauth2-proxy separate groups by commas, authentik by bars, and others by semicolons. Names of groups may
 * contain the other separators, so only one of them splits the text.
 */
function groupsIn(text: string): string[] {
  const separator = ["|", ";"].find((sign) => text.includes(sign)) ?? ",";
  const groups = text.split(separator).map((group) => group.trim());
  return groups.filter((group) => group !== "");
}

/** The trimmed text of a header. @param max characters @throws UserError "malformed" */
function headerIn({ headersDistinct }: IncomingMessage, name: string, max: number): string | undefined {
  const values = headersDistinct[name];
  if (values === undefined) return undefined;
  if (values.length > 1) throw malformed(`The header ${name} was sent ${values.length} times.`);
  const bytes = Buffer.from(values[0] ?? "", "latin1");
  const text = withoutMarkRuns(bytes.toString("utf8")).normalize("NFC").trim();
  if (!isUtf8(bytes) || /\p{C}/u.test(text))
    throw malformed(`The header ${name} contains invisible characters or invalid UTF-8.`);
  if (text.length > max) throw malformed(`The header ${name} is longer than ${max} characters.`);
  return text;
}

function malformed(message: string): UserError {
  return new UserError("malformed", message);
}

/** @throws UserError "forbidden" if none of the user's groups has a role, or their account is disabled */
function personOf(app: App, { name, groups }: RemoteUser, match: RouteMatch): Identity {
  const account = accountFor(app, name);
  const role = account === undefined ? roleOfGroups(app.config.proxies.groups, groups) : account.role;
  if (role !== undefined && !account?.isDisabled) {
    if (account === undefined) return { kind: "person", name, role };
    app.sessions.recordProxyVisit(account);
    return { kind: "person", name: account.name, role, account: account.id };
  }
  if (isOpen(match)) return unauthenticated;
  if (account?.isDisabled) throw new UserError("forbidden", `The account “${account.name}” is disabled.`);
  throw new UserError(
    "forbidden",
    `You are signed in as “${name}”, but none of your groups has access. Ask your administrator (REMOTE_GROUPS).`,
  );
}

/**
 * The Platen account with the name that a proxy sends. Its role overrides the roles of the user's groups.
 * @throws UserError "forbidden" for the administrator's account, which signs in with its password only
 */
function accountFor({ config, store }: App, name: string): Account | undefined {
  const account = store.accounts.findByName(name)?.account;
  if (account?.name !== adminName) return account;
  if (!acceptsPasswords(config)) return undefined;
  throw new UserError(
    "forbidden",
    `“${adminName}” cannot sign in at a proxy. Sign in at Platen, with the password.`,
  );
}

/**
 * The token of a request: as `Bearer`, or as the password of `Basic` with any name. Undefined without `Authorization`;
 * empty if its value has another form.
 */
function tokenIn({ headersDistinct }: IncomingMessage): string | undefined {
  const { authorization } = headersDistinct;
  if (authorization === undefined) return undefined;
  const [, scheme = "", text = ""] = /^(Bearer|Basic) ([^ ]+)$/i.exec(authorization.join()) ?? [];
  if (scheme.toLowerCase() !== "basic") return text;
  const pair = Buffer.from(text, "base64").toString("latin1");
  return pair.includes(":") ? pair.slice(pair.indexOf(":") + 1) : "";
}
