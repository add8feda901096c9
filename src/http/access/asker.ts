import type { IncomingMessage } from "node:http";
import { type Config, takesPasswords } from "../../config.ts";
import { type Identity, nobody } from "../../domain/access.ts";
import { noProxies } from "../../domain/proxies.ts";
import { type Origin, originOf } from "./forwarded.ts";

/** What is known of who sent a request. */
export interface Asker extends Origin {
  readonly identity: Identity;
  /** Whether people sign in at Platen's own page, with a password. */
  readonly canSignIn: boolean;
  /** Whether other machines may ask as well, and nobody has to sign in. */
  readonly isOpenToAll: boolean;
}

const stranger = { identity: nobody, canSignIn: false, isOpenToAll: false } as const;

const askers = new WeakMap<IncomingMessage, Asker>();

/** Who sent a request; nobody that we know until they were recognised. */
export function askerOf(request: IncomingMessage): Asker {
  return askers.get(request) ?? { ...originOf(request, noProxies), ...stranger };
}

/** Remembers where a request comes from, before anything else is done with it. */
export function arrive(config: Config, request: IncomingMessage): void {
  const canSignIn = takesPasswords(config);
  askers.set(request, { ...originOf(request, config.proxies), ...stranger, canSignIn });
}

/** Remembers who it is. */
export function remember(request: IncomingMessage, who: Pick<Asker, "identity" | "isOpenToAll">): Asker {
  const asker = { ...askerOf(request), ...who };
  askers.set(request, asker);
  return asker;
}
