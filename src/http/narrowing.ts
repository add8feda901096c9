import type { IncomingMessage } from "node:http";
import type { FormInput } from "../domain/fields.ts";
import { type Narrowing, parseNarrowing, type WantedState } from "../domain/search.ts";
import type { TextReply } from "./reply.ts";

/** What an address narrows a list to. @param known the states that rows of the list can be in */
export function narrowingIn(query: URLSearchParams, known?: readonly WantedState[]): Narrowing {
  return parseNarrowing(Object.fromEntries(query), known);
}

/**
 * What a list was narrowed to from which a form was sent: its own field says it, else the address of its page.
 * @param path of that page
 */
export function narrowingBehind(
  request: IncomingMessage,
  path: string,
  { narrowed }: FormInput,
  known?: readonly WantedState[],
): Narrowing {
  if (narrowed !== undefined) return narrowingIn(new URLSearchParams(narrowed), known);
  const page = String(request.headers["hx-current-url"] ?? "");
  const url = URL.canParse(page) ? new URL(page) : undefined;
  return narrowingIn(url?.pathname === path ? url.searchParams : new URLSearchParams(), known);
}

/**
 * A page of which a script takes the list alone says the address to show: without what narrows nothing, and without
 * what the page said before.
 */
export function withAddress(request: IncomingMessage, reply: TextReply, path: string): TextReply {
  const isPart = request.headers["hx-target"] !== undefined;
  return isPart ? { ...reply, headers: { ...reply.headers, "HX-Replace-Url": path } } : reply;
}
