import type { App } from "../../app.ts";
import { narrowClients, narrowDrivers, narrowPrinters } from "../../domain/printers/search.ts";
import { type Found, searchPage, searchResults } from "../../html/printers/search.ts";
import { htmlReply, type Reply } from "../answers/reply.ts";
import { narrowingIn } from "../list-filter.ts";
import { frameOf } from "../page-context.ts";
import type { Context } from "../router.ts";

/** `GET /search`: a page, or what was found alone where a script of ours asks */
export async function show({ app, request, url }: Context): Promise<Reply> {
  const found = await find(app, narrowingIn(url.searchParams).q);
  if (request.headers["hx-target"] === undefined) return htmlReply(searchPage(frameOf(request), found));
  return htmlReply(searchResults(found));
}

async function find({ overview, store, models: modelSearch }: App, q: string): Promise<Found> {
  if (q === "") return { q, printers: [], clients: [], drivers: [], models: new Map() };
  const { printers, drivers: uploaded, windowsDrivers } = await overview.read();
  const drivers = [...uploaded, ...windowsDrivers];
  const models = await modelSearch.among(drivers, q);
  const words = { q, client: undefined, state: undefined };
  return {
    q,
    printers: narrowPrinters(printers, words),
    clients: narrowClients(store.clients.list(), words),
    drivers: narrowDrivers(drivers, words, models),
    models,
  };
}
