import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import { anyone, type Identity, nobody } from "../domain/access.ts";
import type { Found } from "./router.ts";

/** What is known of who sent a request. */
interface Asker {
  /** The IP address that they asked from. */
  readonly address: string;
  readonly identity: Identity;
}

const askers = new WeakMap<IncomingMessage, Asker>();

/** Who sent a request; nobody that we know until they were recognised. */
export function askerOf(request: IncomingMessage): Asker {
  return askers.get(request) ?? { address: request.socket.remoteAddress ?? "", identity: nobody };
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

/** Sign-in is off: everybody may do everything. */
async function identify(_app: App, _request: IncomingMessage, _found: Found): Promise<Identity> {
  return anyone;
}
