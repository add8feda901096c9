import type { Identity, Scope } from "../../domain/access/access.ts";
import type { LinkOwner } from "../../domain/access/link.ts";
import type { Links } from "../../services/access/links.ts";
import type { Store } from "../../store/store.ts";
import { type Found, parseId, type Reach } from "../router.ts";

/** A route that machines may reach, with the record that it is of. */
interface Reached {
  readonly reach: Reach;
  readonly id: number;
}

function reachedBy(found: Found): Reached | undefined {
  if (found.kind !== "route" || found.route.reach === undefined) return undefined;
  return { reach: found.route.reach, id: parseId(found.params.id) };
}

/**
 * Whether a token of one client or printer, or the link that came with an address, reaches what was asked for.
 * @throws UserError "not-found" where the path's `:id` is no integer
 */
export function isReached(store: Store, identity: Identity, found: Found): boolean {
  const reached = reachedBy(found);
  if (reached === undefined) return false;
  const scope = identity.kind === "token" || identity.kind === "link" ? identity.scope : undefined;
  // A link is checked with its address. One that a client's or printer's token made reaches no further than that token now.
  if (identity.kind === "link" && (scope === undefined || scope.kind === "read" || reached.reach === "files"))
    return true;
  return scope !== undefined && isInScope(store, scope, reached);
}

/** As it is now: what moves to another client is out of reach at once. */
function isInScope({ printers }: Store, scope: Scope, { reach, id }: Reached): boolean {
  if (scope.kind === "read") return false;
  switch (reach) {
    case "printer":
      return scope.kind === "printer" ? scope.id === id : printers.clientIdOf(id) === scope.id;
    case "client":
      return scope.kind === "client" && scope.id === id;
    case "files":
      return printers.haveDriver(scope, id);
    default:
      return false;
  }
}

/** The parameter that holds a link's value. */
const parameter = "link";

/**
 * Who comes with a link; undefined where the address has none, or leads where no link can.
 * @throws UserError "forbidden" where the link does not hold, "not-found" where the path's `:id` is no integer
 */
export function linkedBy(links: Links, url: URL, found: Found): Identity | undefined {
  const texts = url.searchParams.getAll(parameter);
  const reached = texts.length === 0 ? undefined : reachedBy(found);
  if (reached === undefined) return undefined;
  const rest = new URLSearchParams([...url.searchParams].filter(([name]) => name !== parameter));
  const address = rest.size === 0 ? url.pathname : `${url.pathname}?${rest}`;
  return links.identify(
    { owner: ownerOf(reached), address, isFiles: reached.reach === "files" },
    texts.length === 1 ? (texts[0] ?? "") : "",
  );
}

function ownerOf({ reach, id }: Reached): LinkOwner {
  return { kind: reach === "files" ? "driver" : reach, id };
}
