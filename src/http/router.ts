import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import type { Rule } from "../domain/access/access.ts";
import { UserError } from "../domain/errors.ts";
import type { Reply } from "./answers/reply.ts";
import { formLimitBytes, importLimitBytes, printerFormLimitBytes } from "./requests/multipart.ts";

/** The names of a pattern's parts: `"/printers/:id/scripts/:kind"` has `id` and `kind`. */
type ParamNames<Pattern extends string> = Pattern extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | ParamNames<More>
    : Rest
  : never;

/** What every handler reads a request from. */
export interface RequestContext {
  readonly app: App;
  readonly request: IncomingMessage;
  readonly url: URL;
}

/** The same with the parts of the path; `id`, the integer, only where the pattern has `:id`. */
export type Context<Name extends string = never> = RequestContext & {
  readonly params: Readonly<Record<Name, string>>;
} & ("id" extends Name ? { readonly id: number } : unknown);

type Handler<Name extends string = never> = (context: Context<Name>) => Reply | Promise<Reply>;

export interface Route {
  readonly method: string;
  /** As it stands in the table: `/printers/:id`. */
  readonly path: string;
  readonly pattern: RegExp;
  /** Who may use it. */
  readonly rule: Rule;
  /** What has to be on for it to be of use; undefined where it always is. */
  readonly needs: Need | undefined;
  readonly names: readonly string[];
  /** What its answer is, where that takes time to be made: a few at a time are. */
  readonly answers: "page" | "download" | undefined;
  readonly handler: Handler<string>;
  /** So much of a request's body is kept in memory at most. */
  readonly keptBytes: number;
  /** What it is of, where tokens of one client or printer, and links, may reach it. */
  readonly reach: Reach | undefined;
}

/** That people have to say who they are, here or at a proxy; or that they do so here, with a password. */
type Need = "sign-in" | "passwords";

/** The record that `:id` names in a path that machines fetch from; `files` are a driver's, which printers' scripts fetch. */
export type Reach = "printer" | "client" | "driver" | "files";

const routeOf =
  (method: string, answers?: Route["answers"], keptBytes = formLimitBytes) =>
  <const Pattern extends string>(
    path: Pattern,
    rule: Rule,
    handler: Handler<ParamNames<Pattern>>,
    reach?: Reach,
  ): Route => {
    const names = [...path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? "");
    const source = path.replaceAll(".", "\\.").replace(/:\w+/g, "([^/]+)");
    const pattern = new RegExp(`^${source}$`);
    const kind = { method, path, answers, keptBytes, needs: undefined };
    return { ...kind, pattern, rule, names, reach, handler: handler as Handler<string> };
  };

/** What is neither a page nor made first: it is answered at once, however many of those are asked for. */
export const get = routeOf("GET");
export const page = routeOf("GET", "page");
export const download = routeOf("GET", "download");
export const post = routeOf("POST");
/** A printer's form, with its PrintTicket. */
export const postPrinter = routeOf("POST", undefined, printerFormLimitBytes);
/** A form that brings a list, which is kept in memory. */
export const postList = routeOf("POST", undefined, importLimitBytes);
export const del = routeOf("DELETE");

/** A route that is there only where something is on. */
export function where(needs: Need, route: Route): Route {
  return { ...route, needs };
}

export interface FoundRoute {
  readonly kind: "route";
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** What the table says of a request. */
export type Found =
  | FoundRoute
  | { readonly kind: "wrong method"; readonly allow: string }
  | { readonly kind: "nothing" };

/** What a request asks for. */
export interface Asked {
  readonly url: URL;
  readonly found: Found;
}

/** Looks a request up. HEAD is answered wherever GET is; a name in a pattern counts more than what can be anything. */
export function findRoute(routes: readonly Route[], method: string, path: string): Found {
  const wanted = method === "HEAD" ? "GET" : method;
  const fitting = routes.filter((route) => route.pattern.test(path));
  const fewest = Math.min(...fitting.map(({ names }) => names.length));
  const matching = fitting.filter(({ names }) => names.length === fewest);
  const route = matching.find((candidate) => candidate.method === wanted);
  if (route !== undefined) {
    const values = route.pattern.exec(path)?.slice(1) ?? [];
    const params = decodeAll(route.names, values);
    return params === undefined ? { kind: "nothing" } : { kind: "route", route, params };
  }
  if (matching.length === 0) return { kind: "nothing" };
  const methods = new Set(
    matching.flatMap((found) => (found.method === "GET" ? ["GET", "HEAD"] : [found.method])),
  );
  return { kind: "wrong method", allow: [...methods].join(", ") };
}

/** Undefined where something in the path is not encoded as it must be. */
function decodeAll(names: readonly string[], values: readonly string[]): Record<string, string> | undefined {
  try {
    return Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(values[i] ?? "")]));
  } catch {
    return undefined;
  }
}

/** The page that a path without one belongs to: its record's, else its place, else the dashboard. */
export function pageAbove(routes: readonly Route[], path: string): string {
  const [, place = "", id = ""] = path.split("/");
  const above = [`/${place}/${id}`, `/${place}`].filter((candidate) => path.startsWith(`${candidate}/`));
  return above.find((candidate) => findRoute(routes, "GET", candidate).kind === "route") ?? "/";
}

/** Runs the handler of a route. @throws UserError "not-found" where the path's `:id` is no integer */
export async function runRoute({ route, params }: FoundRoute, base: RequestContext): Promise<Reply> {
  // The table's types hold each handler to the names of its pattern; here the names are only known as text.
  const context = "id" in params ? { ...base, params, id: parseId(params.id) } : { ...base, params };
  return route.handler(context as Context<string>);
}

/** The integer in a path. @throws UserError "not-found" */
export function parseId(text: string | undefined): number {
  if (text !== undefined && /^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UserError("not-found", "There is nothing at this address.");
}
