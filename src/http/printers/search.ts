import type { App } from "../../app.ts";
import { narrowClients, narrowDrivers, narrowPrinters } from "../../domain/printers/search.ts";
import { type SearchResults, searchPage, searchResults } from "../../html/printers/search.ts";
import { htmlReply, type Reply } from "../answers/reply.ts";
import { findHelp } from "../help.ts";
import { narrowingIn } from "../list-filter.ts";
import { pageContextOf } from "../page-context.ts";
import type { Context } from "../router.ts";

/** `GET /search`: a page, or only the results for htmx */
export async function show({ app, request, url }: Context): Promise<Reply> {
  const results = await find(app, narrowingIn(url.searchParams).q);
  if (request.headers["hx-target"] === undefined)
    return htmlReply(searchPage(pageContextOf(request), results));
  return htmlReply(searchResults(results));
}

async function find({ overview, store, models: modelSearch }: App, q: string): Promise<SearchResults> {
  if (q === "") return { q, printers: [], clients: [], drivers: [], models: new Map(), help: [] };
  const { printers, drivers: uploaded, windowsDrivers } = await overview.read();
  const drivers = [...uploaded, ...windowsDrivers];
  const models = await modelSearch.find(drivers, q);
  const words = { q, client: undefined, state: undefined };
  return {
    q,
    printers: narrowPrinters(printers, words),
    clients: narrowClients(store.clients.list(), words),
    drivers: narrowDrivers(drivers, words, models),
    models,
    help: await findHelp(q),
  };
}
