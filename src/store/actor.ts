import { AsyncLocalStorage } from "node:async_hooks";

/** A user, token or service, and its network address, as in the audit log. */
export interface Actor {
  /** A name, such as `admin`, `token Datto`, `anyone` or `platen`. */
  readonly who: string;
  /** A network address; empty for the service itself. */
  readonly from: string;
}

/** The service itself, for work that no request started. */
export const serviceActor: Actor = { who: "platen", from: "" };

const actors = new AsyncLocalStorage<Actor>();

/** Runs `work` in the name of `actor`, including the asynchronous calls that it makes. */
export function runAs<T>(actor: Actor, work: () => T): T {
  return actors.run(actor, work);
}

/** The actor of the innermost `runAs`; outside of it, the service itself. */
export function currentActor(): Actor {
  return actors.getStore() ?? serviceActor;
}
