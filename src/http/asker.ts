import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import type { Config } from "../config.ts";
import { anyone, type Identity, nobody } from "../domain/access.ts";
import { UserError } from "../domain/errors.ts";
import { noProxies, roleOfGroups } from "../domain/proxies.ts";
import { type Origin, originOf } from "./forwarded.ts";
import { type RemoteUser, remoteUserOf } from "./remote-user.ts";
import type { Found } from "./router.ts";

/** What is known of who sent a request. */
interface Asker extends Origin {
  readonly identity: Identity;
}

const askers = new WeakMap<IncomingMessage, Asker>();

/** Who sent a request; nobody that we know until they were recognised. */
export function askerOf(request: IncomingMessage): Asker {
  return askers.get(request) ?? { ...originOf(request, noProxies), identity: nobody };
}

/** Remembers where a request comes from, before anything else is done with it. */
export function arrive({ proxies }: Config, request: IncomingMessage): void {
  askers.set(request, { ...originOf(request, proxies), identity: nobody });
}

/**
 * Finds out who sent a request, and remembers it.
 * @throws UserError where what they say of themselves cannot be
 */
export async function recognise(app: App, request: IncomingMessage, found: Found): Promise<Asker> {
  const asker = { ...askerOf(request), identity: await identify(app, request, found) };
  askers.set(request, asker);
  return asker;
}

/** Whether people and programs have to say who they are. */
export function isSignInOn({ proxies }: Config): boolean {
  return proxies.userHeader !== undefined;
}

/** Whether anybody can sign in here, and not at a proxy alone. */
export function isPasswordTaken(_config: Config): boolean {
  return false;
}

/** The first that says who it is counts: a trusted proxy. */
async function identify(app: App, request: IncomingMessage, found: Found): Promise<Identity> {
  const { config } = app;
  const remote = remoteUserOf(request, config.proxies, askerOf(request).isProxied);
  if (!isSignInOn(config)) return anyone;
  if (remote !== undefined) return personOf(app, remote, found);
  return nobody;
}

/** @throws UserError "forbidden" where none of their groups may use this service */
function personOf({ config }: App, { name, groups }: RemoteUser, found: Found): Identity {
  const role = roleOfGroups(config.proxies.groups, groups);
  if (role !== undefined) return { kind: "person", name, role };
  if (found.kind === "route" && found.route.rule === "open") return nobody;
  throw new UserError(
    "forbidden",
    `You are signed in as “${name}”, and none of your groups may use Platen: ask who runs it (REMOTE_GROUPS).`,
  );
}
