import type { IncomingMessage } from "node:http";
import type { Link } from "../html/layout.ts";
import { paths } from "../html/paths.ts";
import { senderOf } from "./access/sender.ts";

const places: ReadonlyMap<string, Link> = new Map([
  ["printers", { label: "All printers", path: paths.printers }],
  ["clients", { label: "All clients", path: paths.clients }],
  ["drivers", { label: "All drivers", path: paths.drivers }],
  ["packages", { label: "All packages", path: paths.packages }],
]);

const recordNames: ReadonlyMap<string, string> = new Map([
  ["printers", "Open the printer"],
  ["clients", "Open the client"],
  ["drivers", "Open the driver"],
]);

/**
 * Where somebody whose request was refused can go on, the likeliest first: the page that they came from, the record
 * that the address belongs to, and the place of that.
 */
export function nextLinks(request: IncomingMessage, status: number): Link[] {
  // Whoever is not known gets no further there, and what they typed is on the page that the browser goes back to.
  if (status === 401) return [];
  const [, place = "", id = "", ...rest] = (request.url ?? "").split(/[?#]/)[0]?.split("/") ?? [];
  const links: Link[] = [];
  const before = pageBefore(request);
  if (before !== undefined) links.push({ label: "Back to the page before", path: before });
  const record = recordNames.get(place);
  const recordPath = `/${place}/${id}`;
  if (
    record !== undefined &&
    rest.length > 0 &&
    status !== 404 &&
    /^\d{1,15}$/.test(id) &&
    before !== recordPath
  ) {
    links.push({ label: record, path: recordPath });
  }
  const list = places.get(place);
  if (list !== undefined && list.path !== before && list.path !== request.url) links.push(list);
  return links;
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
