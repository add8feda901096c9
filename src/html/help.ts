import { type HelpHit, maxHelpQuery } from "../domain/help-search.ts";
import { type Html, html } from "./html.ts";
import { type PageContext, page } from "./layout.ts";
import { paths } from "./paths.ts";

/** A page of `docs/`, as `help.mjs` makes it. */
export interface HelpPage {
  /** The end of its path; empty for the index. */
  readonly name: string;
  readonly title: string;
  readonly sections: readonly HelpSection[];
}

interface HelpSection {
  /** Empty for the text before the first heading. */
  readonly id: string;
  /** 2 or 3, as in `<h2>`. */
  readonly level: number;
  readonly heading: Html;
  readonly body: Html;
}

/** The list of all pages. @param about the version and the licence */
export function helpIndexPage(context: PageContext, index: HelpPage, about: string): Html {
  return page(
    { ...context, title: index.title, section: "Help" },
    html`${searchForm("")}<div class="help two">${index.sections.map(sectionOf)}</div>
    <p class="soft">${about} <a href="${paths.help("licences")}">Licences of all parts</a></p>`,
  );
}

export function helpPage(context: PageContext, { title, sections }: HelpPage): Html {
  const links = sections.flatMap(({ id, level, heading }) =>
    level === 2 ? [html`<li><a href="#${id}">${heading}</a></li>`] : [],
  );
  return page(
    { ...context, title, section: "Help" },
    html`${searchForm("")}
    ${links.length > 1 && html`<nav class="off-paper" aria-label="On this page"><ul class="names">${links}</ul></nav>`}
    <article class="help">${sections.map(sectionOf)}</article>`,
  );
}

export function licencesPage(context: PageContext, licences: string): Html {
  const text = html`<article class="help"><pre>${licences}</pre></article>`;
  return page({ ...context, title: "Licences", section: "Help" }, text);
}

export function helpResultsPage(context: PageContext, q: string, hits: readonly HelpHit[]): Html {
  const nothing = html`<p>No results. <a href="${paths.help()}">Show all pages</a></p>`;
  return page(
    { ...context, title: "Help", section: "Help" },
    html`${searchForm(q)}${hits.length === 0 ? nothing : html`<div class="results"><ul>${hits.map(helpItem)}</ul></div>`}`,
  );
}

export function helpItem({ page, title, id, line }: HelpHit): Html {
  return html`<li><p><a href="${paths.help(page)}#${id}">${title}</a></p><p class="soft">${shortened(line)}</p></li>`;
}

function shortened(line: string): string {
  return line.length <= 400 ? line : `${line.slice(0, 400)}…`;
}

function searchForm(q: string): Html {
  return html`<form class="search-again" method="get" action="${paths.help()}" role="search" aria-label="Search the help">
      <label for="help-q">Search words or an error message</label>
      <p class="actions"><input id="help-q" type="search" name="q" value="${q}" maxlength="${maxHelpQuery}">
        <button class="primary">Search</button></p></form>`;
}

function sectionOf({ id, level, heading, body }: HelpSection): Html {
  const title = level === 2 ? html`<h2>${heading}</h2>` : level === 3 && html`<h3>${heading}</h3>`;
  return html`<section${id && html` id="${id}"`}>${title}${body}</section>`;
}
