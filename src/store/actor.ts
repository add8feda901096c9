import { AsyncLocalStorage } from "node:async_hooks";

/** Who a change or a download is put down to. */
interface Actor {
  /** A name, such as `admin`, `token Datto`, `anyone` or `platen`. */
  readonly who: string;
  /** The address that they asked from; empty for the service itself. */
  readonly from: string;
}

const actors = new AsyncLocalStorage<Actor>();

/** Does some work, also all that it waits for, in somebody's name. */
export function asActor<T>(actor: Actor, work: () => T): T {
  return actors.run(actor, work);
}
