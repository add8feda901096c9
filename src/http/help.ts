import readPages from "../../docs/README.md";
import { UserError } from "../domain/errors.ts";
import { HelpSearch } from "../domain/help-search.ts";
import { type HelpPage, helpIndexPage, helpPage, helpResultsPage, licencesPage } from "../html/help.ts";
import { htmlReply, type Reply } from "./answers/reply.ts";
import { pageContextOf } from "./page-context.ts";
import type { Context } from "./router.ts";

/** `GET /help`: the list of pages, or with `q` what a search finds */
export function index({ request, url }: Context): Reply {
  const [first, ...pages] = readPages();
  const q = url.searchParams.get("q")?.trim() ?? "";
  const context = pageContextOf(request);
  if (q !== "") return htmlReply(helpResultsPage(context, q, searchOf(pages).find(q)));
  return htmlReply(helpIndexPage(context, first, `Platen ${PLATEN_VERSION}, MIT licence.`));
}

let search: HelpSearch | undefined;

/** Made on the first search. */
function searchOf(pages: readonly HelpPage[]): HelpSearch {
  if (search !== undefined) return search;
  search = new HelpSearch();
  for (const { name, title, sections } of pages) search.add(name, title, sections);
  return search;
}

/** `GET /help/…` */
export function show({ request, params }: Context<"page">): Reply {
  const context = pageContextOf(request);
  if (params.page === "licences") return htmlReply(licencesPage(context, PLATEN_LICENCES));
  return htmlReply(helpPage(context, getPage(params.page)));
}

/** @throws UserError "not-found" */
function getPage(wanted: string): HelpPage {
  const found = readPages().find(({ name }) => name === wanted);
  if (found === undefined) throw new UserError("not-found", "The help has no such page.");
  return found;
}
