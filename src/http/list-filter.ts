import type { IncomingMessage } from "node:http";
import type { FormInput } from "../domain/fields.ts";
import { isNarrowed, type ListName, type Narrowing, parseNarrowing } from "../domain/printers/search.ts";
import { narrowedPath } from "../html/list-filter.ts";
import { paths } from "../html/paths.ts";
import type { TextReply } from "./answers/reply.ts";

/** The filter in a query. @param list the filtered list; printers by default */
export function narrowingIn(query: URLSearchParams, list?: ListName): Narrowing {
  return parseNarrowing(Object.fromEntries(query), list);
}

/** The filter of the list on the page that sent a form: from the form's field `narrowed`, or the page's address. */
export function narrowingOfPage(
  request: IncomingMessage,
  list: ListName,
  { narrowed }: FormInput = {},
): Narrowing {
  if (narrowed !== undefined) return narrowingIn(new URLSearchParams(narrowed), list);
  const page = pageIn(request.headers["hx-current-url"]);
  return narrowingIn(page?.pathname === paths[list] ? page.searchParams : new URLSearchParams(), list);
}

/** The path of the filtered list whose page sent a plain form; undefined for other pages and unfiltered lists. */
export function narrowedListPath({ headers }: IncomingMessage): string | undefined {
  const page = pageIn(headers.referer);
  const list = (["printers", "drivers", "clients"] as const).find((name) => paths[name] === page?.pathname);
  if (page === undefined || list === undefined) return undefined;
  const narrowing = narrowingIn(page.searchParams, list);
  return isNarrowed(narrowing) ? narrowedPath(paths[list], narrowing) : undefined;
}

/** The page that a header names. */
export function pageIn(header: string | string[] | undefined): URL | undefined {
  const text = String(header ?? "");
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** If a page script replaces only the list, makes the browser show `path`, without empty filters or an old message. */
export function withListUrl(request: IncomingMessage, reply: TextReply, path: string): TextReply {
  const isPart = request.headers["hx-target"] !== undefined;
  return isPart ? { ...reply, headers: { ...reply.headers, "HX-Replace-Url": path } } : reply;
}
