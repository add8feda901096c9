import type { IncomingMessage } from "node:http";
import type { Link } from "../html/layout.ts";
import { paths } from "../html/paths.ts";
import { senderOf } from "./sender.ts";

const places: Readonly<Record<string, { readonly list: Link; readonly record?: string }>> = {
  printers: { list: { label: "All printers", path: paths.printers }, record: "Open the printer" },
  clients: { list: { label: "All clients", path: paths.clients }, record: "Open the client" },
  drivers: { list: { label: "All drivers", path: paths.drivers }, record: "Open the driver" },
  packages: { list: { label: "All packages", path: paths.packages } },
};

/**
 * Where somebody whose request was refused can go on, the likeliest first: the page that they came from, the record
 * that the address belongs to, and the place of that.
 */
export function nextLinks(request: IncomingMessage, status: number): Link[] {
  // Whoever is not known gets no further there, and what they typed is on the page that the browser goes back to.
  if (status === 401) return [];
  const [, name = "", id = "", below] = (request.url ?? "").split(/[?#]/)[0]?.split("/") ?? [];
  const before = pageBefore(request);
  const back = before === undefined ? [] : [{ label: "Back to the page before", path: before }];
  const place = Object.hasOwn(places, name) ? places[name] : undefined;
  if (place === undefined) return back;
  const { list, record } = place;
  const isBelowRecord = below !== undefined && status !== 404 && /^\d{1,15}$/.test(id);
  const above = record && isBelowRecord ? [{ label: record, path: `/${name}/${id}` }, list] : [list];
  return [...back, ...above.filter(({ path }) => path !== before && path !== request.url)];
}

/** The page of ours that a request came from; undefined where it says none, or the same address. */
function pageBefore(request: IncomingMessage): string | undefined {
  const { url } = request;
  const { referer } = request.headers;
  const { host } = senderOf(request);
  if (referer === undefined || host === undefined || !URL.canParse(referer)) return undefined;
  const page = new URL(referer);
  const path = page.pathname + page.search;
  // A path that begins with two slashes would be read as another host.
  if (page.host !== host || path.startsWith("//") || path === url) return undefined;
  return path;
}
