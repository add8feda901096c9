import { setImmediate } from "node:timers/promises";
import readPages from "../../docs/README.md";
import { missingPage } from "../domain/errors.ts";
import { type HelpHit, HelpSearch } from "../domain/help-search.ts";
import { type HelpPage, helpIndexPage, helpPage, helpResultsPage, licencesPage } from "../html/help.ts";
import { htmlReply, type Reply } from "./answers/reply.ts";
import { pageContextOf } from "./page-context.ts";
import type { Context } from "./router.ts";

/** `GET /help`: the list of pages, or with `q` what a search finds */
export async function index({ request, url }: Context): Promise<Reply> {
  const q = url.searchParams.get("q")?.trim() ?? "";
  const context = pageContextOf(request);
  if (q !== "") return htmlReply(helpResultsPage(context, q, await findHelp(q)));
  return htmlReply(helpIndexPage(context, readPages()[0], `Platen ${PLATEN_VERSION}, MIT licence.`));
}

let search: Promise<HelpSearch> | undefined;

/** What a search of the help finds. The first search makes the index. */
export async function findHelp(q: string): Promise<readonly HelpHit[]> {
  search ??= makeSearch();
  return (await search).find(q);
}

/** Other requests are answered between the pages. */
async function makeSearch(): Promise<HelpSearch> {
  const made = new HelpSearch();
  for (const { name, title, sections } of readPages().slice(1)) {
    made.add(name, title, sections);
    await setImmediate();
  }
  return made;
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
  if (found === undefined) throw missingPage();
  return found;
}
