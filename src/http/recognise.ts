import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import { needsSignIn } from "../config.ts";
import { anyone, type Identity, nobody } from "../domain/access.ts";
import { UserError } from "../domain/errors.ts";
import { roleOfGroups } from "../domain/proxies.ts";
import { type Asker, askerOf, remember } from "./asker.ts";
import { type RemoteUser, remoteUserOf } from "./remote-user.ts";
import type { Found } from "./router.ts";
import { isLoopbackOnly } from "./service-url.ts";
import { personOfSession } from "./sessions.ts";

/**
 * Finds out who sent a request, and remembers it.
 * @throws UserError where what they say of themselves cannot be
 */
export async function recognise(app: App, request: IncomingMessage, found: Found): Promise<Asker> {
  const identity = await identify(app, request, found);
  return remember(request, { identity, isOpenToAll: isOpenToAll(app.config) });
}

/** Whoever reaches the service may change everything, and more than this machine may reach it. */
export function isOpenToAll(config: App["config"]): boolean {
  return !needsSignIn(config) && !isLoopbackOnly(config);
}

/** The first that says who it is counts: a trusted proxy, then a session. */
async function identify(app: App, request: IncomingMessage, found: Found): Promise<Identity> {
  const { config } = app;
  const remote = remoteUserOf(request, config.proxies, askerOf(request).isProxied);
  if (!needsSignIn(config)) return anyone;
  if (remote !== undefined) return personOf(app, remote, found);
  return personOfSession(app, request) ?? nobody;
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
