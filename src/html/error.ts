import type { Help, Obstacles, Remedy } from "../domain/errors.ts";
import { type Html, html } from "./html.ts";
import { anchor, canChange, type Link, type Message, messageBox, type PageContext, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { remedyLink } from "./remedies.ts";
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

/** The reason of an error, with help for the user. */
export interface Refusal {
  readonly message: string;
  readonly help: Help;
}

/**
 * An error page: what happened, why, and what to do.
 * @param next links to go on, the likeliest first
 */
export function errorPage(
  pageContext: PageContext,
  status: number,
  refusal: Refusal,
  next: readonly Link[],
): Html {
  const { text, links = [] } = refusalMessage(refusal, canChange(pageContext.visitor));
  const back = [...next, ...homeLinks(pageContext.visitor, refusal)];
  return page(
    { ...pageContext, title: titles[status] ?? "Not possible" },
    html`<p>${text}</p>
    ${links.length > 0 && html`<ul class="actions">${links.map((link) => html`<li>${anchor(link)}</li>`)}</ul>`}
    ${back.length > 0 && html`<p class="actions">${back.map(({ label, path }) => html`<a class="button" href="${path}">${label}</a>`)}</p>`}`,
  );
}

/** The dashboard, or the sign-in page where Platen has one and no remedy links it. */
function homeLinks(
  { role, canSignIn }: PageContext["visitor"],
  { help: { remedies = [] } }: Refusal,
): Link[] {
  if (role !== undefined) return [{ label: "Go to the dashboard", path: paths.dashboard }];
  const isOffered = remedies.some(({ kind }) => kind === "sign-in");
  return canSignIn && !isOffered ? [{ label: "Sign in", path: paths.signIn }] : [];
}

export function errorFragment({ visitor }: PageContext, refusal: Refusal): Html {
  return messageBox(refusalMessage(refusal, canChange(visitor)));
}

const pathOf = { printer: paths.printer, client: paths.client, driver: paths.driver };

/** Remedies that change nothing: viewers see them too. */
const readOnlyRemedies: readonly Remedy["kind"][] = ["package", "left-out", "client-printers", "sign-in"];

/** The error as a message on a page. */
export function refusalMessage(
  { message, help: { obstacles, remedies = [] } }: Refusal,
  isChangeable = true,
): Message {
  const text = obstacles === undefined ? message : obstaclesText(obstacles);
  const visible = isChangeable ? remedies : remedies.filter(({ kind }) => readOnlyRemedies.includes(kind));
  return { tone: "bad", text, links: visible.map(remedyLink) };
}

/** The record names are part of the sentence; remedies are separate links. */
function obstaclesText({ sentence, records, more }: Obstacles): Html {
  const names = records.map(
    ({ kind, id, name }, i) => html`${i > 0 && ", "}<a href="${pathOf[kind](id)}"><bdi>${name}</bdi></a>`,
  );
  return html`${sentence}: ${names}${more > 0 && ` and ${count(more)} more`}.`;
}
