import type { IncomingMessage } from "node:http";
import type { FormInput } from "../domain/fields.ts";
import { isNarrowed, type ListName, type Narrowing, parseNarrowing } from "../domain/printers/search.ts";
import { narrowedPath } from "../html/list-filter.ts";
import { paths } from "../html/paths.ts";
import type { TextReply } from "./answers/reply.ts";

/** What an address narrows a list to. @param list of printers, unless it says otherwise */
export function narrowingIn(query: URLSearchParams, list?: ListName): Narrowing {
  return parseNarrowing(Object.fromEntries(query), list);
}

/**
 * What a list was narrowed to from which a form was sent: its own field says it, else the address of its page.
 */
export function narrowingBehind(
  request: IncomingMessage,
  list: ListName,
  { narrowed }: FormInput = {},
): Narrowing {
  if (narrowed !== undefined) return narrowingIn(new URLSearchParams(narrowed), list);
  const page = pageIn(request.headers["hx-current-url"]);
  return narrowingIn(page?.pathname === paths[list] ? page.searchParams : new URLSearchParams(), list);
}

/** The address of the narrowed list on whose page a plain form was sent. */
export function narrowedListBehind({ headers }: IncomingMessage): string | undefined {
  const page = pageIn(headers.referer);
  const list = (["printers", "drivers", "clients"] as const).find((one) => paths[one] === page?.pathname);
  if (page === undefined || list === undefined) return undefined;
  const narrowing = narrowingIn(page.searchParams, list);
  return isNarrowed(narrowing) ? narrowedPath(paths[list], narrowing) : undefined;
}

function pageIn(header: string | string[] | undefined): URL | undefined {
  const text = String(header ?? "");
  return URL.canParse(text) ? new URL(text) : undefined;
}

/**
 * A page of which a script takes the list alone says the address to show: without what narrows nothing, and without
 * what the page said before.
 */
export function withAddress(request: IncomingMessage, reply: TextReply, path: string): TextReply {
  const isPart = request.headers["hx-target"] !== undefined;
  return isPart ? { ...reply, headers: { ...reply.headers, "HX-Replace-Url": path } } : reply;
}
