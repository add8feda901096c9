import { AsyncLocalStorage } from "node:async_hooks";

/** Who does something, and from where: what the audit log says of it. */
export interface Actor {
  /** A name, such as `admin`, `token Datto`, `anyone` or `platen`. */
  readonly who: string;
  /** An address; empty where nobody asked. */
  readonly from: string;
}

/** The service itself, which does what no request asks for. */
export const itself: Actor = { who: "platen", from: "" };

const actors = new AsyncLocalStorage<Actor>();

/** Does some work, and all that it begins, as somebody. */
export function asActor<T>(actor: Actor, work: () => T): T {
  return actors.run(actor, work);
}

/** Who asked for what runs now. */
export function currentActor(): Actor {
  return actors.getStore() ?? itself;
}
