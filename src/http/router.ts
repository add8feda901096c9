import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import type { Rule } from "../domain/access/access.ts";
import { missingPage } from "../domain/errors.ts";
import type { Reply } from "./answers/reply.ts";
import { formLimitBytes, importLimitBytes, printerFormLimitBytes } from "./requests/multipart.ts";

/** The parameters of a pattern: `"/printers/:id/scripts/:kind"` has `id` and `kind`. */
type ParamNames<Pattern extends string> = Pattern extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | ParamNames<More>
    : Rest
  : never;

export interface RequestContext {
  readonly app: App;
  readonly request: IncomingMessage;
  readonly url: URL;
  /** Of a page or download: aborted when all clients that wait for it have left. */
  readonly signal?: AbortSignal | undefined;
}

/** A request with its path parameters, and with `id` as an integer where the pattern has `:id`. */
export type Context<Name extends string = never> = RequestContext & {
  readonly params: Readonly<Record<Name, string>>;
} & ("id" extends Name ? { readonly id: number } : unknown);

type Handler<Name extends string = never> = (context: Context<Name>) => Reply | Promise<Reply>;

export interface Route {
  readonly method: string;
  /** With the names of its parameters: `/printers/:id`. */
  readonly path: string;
  readonly pattern: RegExp;
  readonly rule: Rule;
  /** What must be switched on for the route to exist; undefined for a route that always exists. */
  readonly needs: Need | undefined;
  readonly paramNames: readonly string[];
  /** Pages and downloads take time to make: their number at a time is limited. Undefined for other answers. */
  readonly answerKind: "page" | "download" | undefined;
  readonly handler: Handler<string>;
  /** How many bytes of the request's body may be in memory at once. */
  readonly maxBufferedBytes: number;
  /** The kind of record in the path. Undefined if links, and tokens of one client or printer, cannot open the route. */
  readonly scope: RouteScope | undefined;
}

/**
 * `sign-in`: people sign in at Platen, at a provider or at a proxy. `sessions`: not only at a proxy. `passwords`: with a
 * password. `oidc`: at an OpenID Connect provider. `metrics`: `METRICS` is on.
 */
type Need = "sign-in" | "sessions" | "passwords" | "oidc" | "metrics";

/** The kind of record with this `:id`. `files` are a driver's files, which the scripts of printers download. */
export type RouteScope = "printer" | "client" | "driver" | "files";

const routeOf =
  (method: string, answerKind?: Route["answerKind"], maxBufferedBytes = formLimitBytes) =>
  <const Pattern extends string>(
    path: Pattern,
    rule: Rule,
    handler: Handler<ParamNames<Pattern>>,
    scope?: RouteScope,
  ): Route => {
    const paramNames = [...path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? "");
    const source = path.replaceAll(".", "\\.").replace(/:\w+/g, "([^/]+)");
    const pattern = new RegExp(`^${source}$`);
    const kind = { method, path, answerKind, maxBufferedBytes, needs: undefined };
    return { ...kind, pattern, rule, paramNames, scope, handler: handler as Handler<string> };
  };

/** A small answer, which does not wait behind pages or downloads. */
export const get = routeOf("GET");
export const page = routeOf("GET", "page");
export const download = routeOf("GET", "download");
export const post = routeOf("POST");
/** A printer's form, with its PrintTicket. */
export const postPrinter = routeOf("POST", undefined, printerFormLimitBytes);
/** A form with a list to import, which is kept in memory. */
export const postList = routeOf("POST", undefined, importLimitBytes);
export const del = routeOf("DELETE");

/** A route that exists only if this is switched on. */
export function requires(needs: Need, route: Route): Route {
  return { ...route, needs };
}

export interface MatchedRoute {
  readonly kind: "route";
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

export type RouteMatch =
  | MatchedRoute
  | { readonly kind: "wrong method"; readonly allow: string }
  | { readonly kind: "nothing" };

/** The URL of a request and its route. */
export interface RequestTarget {
  readonly url: URL;
  readonly match: RouteMatch;
}

/** Finds the route of a request. HEAD matches GET routes. Among matching paths, the fewest parameters win. */
export function findRoute(routes: readonly Route[], method: string, path: string): RouteMatch {
  const wanted = method === "HEAD" ? "GET" : method;
  const candidates = routes.filter((route) => route.pattern.test(path));
  const fewest = Math.min(...candidates.map(({ paramNames }) => paramNames.length));
  const matching = candidates.filter(({ paramNames }) => paramNames.length === fewest);
  const route = matching.find((found) => found.method === wanted);
  if (route !== undefined) {
    const params = decodeAll(route.paramNames, route.pattern.exec(path)?.slice(1) ?? []);
    return params === undefined ? { kind: "nothing" } : { kind: "route", route, params };
  }
  if (matching.length === 0) return { kind: "nothing" };
  const methods = new Set(
    matching.flatMap((found) => (found.method === "GET" ? ["GET", "HEAD"] : [found.method])),
  );
  return { kind: "wrong method", allow: [...methods].join(", ") };
}

/** Undefined if the path's percent-encoding is not valid. */
function decodeAll(names: readonly string[], values: readonly string[]): Record<string, string> | undefined {
  try {
    return Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(values[i] ?? "")]));
  } catch {
    return undefined;
  }
}

/** The page above a path: the record's page, else its list, else the dashboard. */
export function parentPath(routes: readonly Route[], path: string): string {
  const [, list = "", id = ""] = path.split("/");
  const parents = [`/${list}/${id}`, `/${list}`].filter((candidate) => path.startsWith(`${candidate}/`));
  return parents.find((candidate) => findRoute(routes, "GET", candidate).kind === "route") ?? "/";
}

/** Runs a route's handler. @throws UserError "not-found" if the path's `:id` is not a positive integer */
export async function runRoute({ route, params }: MatchedRoute, base: RequestContext): Promise<Reply> {
  // The types of the routes table check that each handler matches the parameters of its path. Here, they are unknown.
  const context = "id" in params ? { ...base, params, id: parseId(params.id) } : { ...base, params };
  return route.handler(context as Context<string>);
}

/** @throws UserError "not-found" if the text is not a positive integer */
export function parseId(text: string | undefined): number {
  if (text !== undefined && /^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw missingPage();
}
