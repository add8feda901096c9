import { maxQuery } from "../domain/search.ts";
import { type Html, html } from "./html.ts";
import { paths } from "./paths.ts";

/** The field in every page's head: without scripts the Enter key goes to the page, with them results come below it. */
export function searchField(): Html {
  return html`<form class="find" method="get" action="${paths.search}" role="search">
      <label class="visually-hidden" for="find">Search everything</label>
      <input id="find" type="search" name="q" maxlength="${maxQuery}" autocomplete="off" placeholder="Search" aria-keyshortcuts="/"
        hx-get="${paths.search}" hx-trigger="input changed delay:200ms" hx-sync="this:replace" hx-target="#find-results">
      <kbd aria-hidden="true" title="The key / leads here">/</kbd>
      <div id="find-results"></div>
      <p class="visually-hidden" role="status"></p>
    </form>`;
}
