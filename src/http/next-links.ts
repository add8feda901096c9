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

/** Links on an error page, the likeliest first: the previous page, the record in the address, and that record's list. */
export function nextLinks(request: IncomingMessage, status: number): Link[] {
  // These pages would need a sign-in, too, and the browser's Back button keeps what was typed.
  if (status === 401) return [];
  const [, name = "", id = "", below] = (request.url ?? "").split(/[?#]/)[0]?.split("/") ?? [];
  const before = previousPage(request);
  const back = before === undefined ? [] : [{ label: "Back to the page before", path: before }];
  const place = Object.hasOwn(places, name) ? places[name] : undefined;
  if (place === undefined) return back;
  const { list, record } = place;
  const isBelowRecord = below !== undefined && status !== 404 && /^\d{1,15}$/.test(id);
  const above = record && isBelowRecord ? [{ label: record, path: `/${name}/${id}` }, list] : [list];
  return [...back, ...above.filter(({ path }) => path !== before && path !== request.url)];
}

/** The Platen page that sent a request, by `Referer`; undefined where it has the same address. */
function previousPage(request: IncomingMessage): string | undefined {
  const { url } = request;
  const { referer } = request.headers;
  const { host } = senderOf(request);
  if (referer === undefined || host === undefined || !URL.canParse(referer)) return undefined;
  const page = new URL(referer);
  const path = page.pathname + page.search;
  // Browsers read a path that begins with two slashes as another host.
  if (page.host !== host || path.startsWith("//") || path === url) return undefined;
  return path;
}
