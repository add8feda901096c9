import type { Identity, Scope } from "../../domain/access/access.ts";
import type { Links } from "../../services/access/links.ts";
import type { Store } from "../../store/store.ts";
import { parseId, type RouteMatch, type RouteScope } from "../router.ts";

/** The record in a request's path, if links, and tokens of one client or printer, can open the route. */
interface ScopedRecord {
  readonly kind: RouteScope;
  readonly id: number;
}

function scopedRecordOf(match: RouteMatch): ScopedRecord | undefined {
  if (match.kind !== "route" || match.route.scope === undefined) return undefined;
  return { kind: match.route.scope, id: parseId(match.params.id) };
}

/**
 * Whether the sender's link, or token of one client or printer, can open the requested address.
 * @throws UserError "not-found" if the path's `:id` is not a positive integer
 */
export function isInScope(store: Store, identity: Identity, match: RouteMatch): boolean {
  const record = scopedRecordOf(match);
  if (record === undefined) return false;
  const scope = identity.kind === "token" || identity.kind === "link" ? identity.scope : undefined;
  // `identifyLink` has checked a link's address. Except for files, a link made with a token also needs its scope.
  if (identity.kind === "link" && (scope === undefined || scope.kind === "read" || record.kind === "files"))
    return true;
  return scope !== undefined && isCovered(store, scope, record);
}

/** Uses the printer's current client: after a move, a token of the former client no longer covers the printer. */
function isCovered({ printers }: Store, scope: Scope, { kind, id }: ScopedRecord): boolean {
  if (!("id" in scope)) return false;
  switch (kind) {
    case "printer":
      return scope.kind === "printer" ? scope.id === id : printers.clientIdOf(id) === scope.id;
    case "client":
      return scope.kind === "client" && scope.id === id;
    case "files":
      return printers.ownerHasDriver(scope, id);
    default:
      return false;
  }
}

/** The query parameter that contains the link. */
const parameter = "link";

/**
 * The identity of a request with a link; undefined without a link, and for a route that links cannot open.
 * @throws UserError "forbidden" if the link is not valid, "not-found" if the path's `:id` is not a positive integer
 */
export function identifyLink(links: Links, url: URL, match: RouteMatch): Identity | undefined {
  const texts = url.searchParams.getAll(parameter);
  const record = texts.length === 0 ? undefined : scopedRecordOf(match);
  if (record === undefined) return undefined;
  const rest = new URLSearchParams([...url.searchParams].filter(([name]) => name !== parameter));
  const address = rest.size === 0 ? url.pathname : `${url.pathname}?${rest}`;
  return links.identify(address, texts.length === 1 ? (texts[0] ?? "") : "");
}
