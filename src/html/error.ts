import type { Help, Obstacles } from "../domain/errors.ts";
import { type Html, html } from "./html.ts";
import { type Frame, type Link, type Message, messageBox, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { linkTo } from "./remedies.ts";
import { count } from "./text.ts";

const titles: Record<number, string> = {
  401: "Sign in",
  403: "Not allowed",
  404: "Not here",
  405: "Not possible this way",
  409: "In the way",
  413: "Too large",
  422: "Not possible yet",
  500: "An error of ours",
  503: "Busy",
  507: "The disk is full",
};

/** Why something was refused, for a person to read and mend. */
export interface Refusal {
  readonly message: string;
  readonly help: Help;
}

/**
 * A page for what went wrong: what happened, why, and what to do.
 * @param next where somebody can go on from here, the likeliest first
 */
export function errorPage(frame: Frame, status: number, refusal: Refusal, next: readonly Link[]): Html {
  const { text, links = [] } = refusalMessage(refusal);
  const back = [...next, { label: "Go to the dashboard", path: paths.dashboard }];
  return page(
    { ...frame, title: titles[status] ?? "Not possible" },
    html`<p>${text}</p>
    ${links.length > 0 && html`<ul class="actions">${links.map(({ label, path }) => html`<li><a href="${path}">${label}</a></li>`)}</ul>`}
    <p class="actions">${back.map(({ label, path }) => html`<a class="button" href="${path}">${label}</a>`)}</p>`,
  );
}

/** The same as a fragment. */
export function errorFragment(refusal: Refusal): Html {
  return messageBox(refusalMessage(refusal));
}

const pathOf = { printer: paths.printer, client: paths.client, driver: paths.driver };

/** The same as a message on a page. */
export function refusalMessage({ message, help: { obstacles, remedies = [] } }: Refusal): Message {
  const text = obstacles === undefined ? message : obstaclesText(obstacles);
  return { tone: "bad", text, links: remedies.map(linkTo) };
}

/** Their names belong to the sentence: what can be done stands apart from them. */
function obstaclesText({ sentence, records, more }: Obstacles): Html {
  const names = records.map(
    ({ kind, id, name }, i) => html`${i > 0 && ", "}<a href="${pathOf[kind](id)}"><bdi>${name}</bdi></a>`,
  );
  return html`${sentence}: ${names}${more > 0 && ` and ${count(more)} more`}.`;
}
