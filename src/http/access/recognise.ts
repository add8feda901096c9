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
import { personOfSession } from "../sessions.ts";
import { type Asker, askerOf, remember } from "./asker.ts";
import { tokenIn } from "./credentials.ts";
import { linkedBy } from "./reach.ts";
import { type RemoteUser, remoteUserOf } from "./remote-user.ts";

/**
 * Finds out who sent a request, and remembers it.
 * @throws UserError where what they say of themselves cannot be
 */
export async function recognise(app: App, request: IncomingMessage, asked: Asked): Promise<Asker> {
  const identity = await identify(app, request, asked);
  const { config } = app;
  return remember(request, { identity, isOpenToAll: isOpenToAll(config) });
}

/** Whoever reaches the service may change everything, and more than this machine may reach it. */
export function isOpenToAll(config: App["config"]): boolean {
  return !needsSignIn(config) && !isLoopbackOnly(config);
}

/**
 * The first that says who it is counts: a link, which nobody sends by accident and which no cache may mix with anybody's
 * session; then a trusted proxy, a session, a token.
 */
async function identify(app: App, request: IncomingMessage, { url, found }: Asked): Promise<Identity> {
  const { config, links } = app;
  const { isProxied, address } = askerOf(request);
  const remote = remoteUserOf(request, config.proxies, isProxied);
  if (!needsSignIn(config)) return anyone;
  const linked = linkedBy(links, url, found);
  if (linked !== undefined) return linked;
  if (remote !== undefined) return personOf(app, remote, found);
  const person = personOfSession(app, request);
  if (person !== undefined) return person;
  // What is open to everybody is so with a token that has expired, too.
  const token = isOpen(found) ? undefined : tokenIn(request);
  return token === undefined ? nobody : app.tokens.identify(token, address, siteOf(address));
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
