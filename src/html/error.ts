import type { Help, Obstacles, Remedy } from "../domain/errors.ts";
import { type Html, html } from "./html.ts";
import { anchor, type Frame, type Link, type Message, mayChange, messageBox, page } from "./layout.ts";
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
  const { text, links = [] } = refusalMessage(refusal, mayChange(frame.visitor));
  const back = [...next, ...homeOf(frame.visitor, refusal)];
  return page(
    { ...frame, title: titles[status] ?? "Not possible" },
    html`<p>${text}</p>
    ${links.length > 0 && html`<ul class="actions">${links.map((link) => html`<li>${anchor(link)}</li>`)}</ul>`}
    ${back.length > 0 && html`<p class="actions">${back.map(({ label, path }) => html`<a class="button" href="${path}">${label}</a>`)}</p>`}`,
  );
}

/** Where everything begins; none where the way in stands above already, or is not here. */
function homeOf({ role, canSignIn }: Frame["visitor"], { help: { remedies = [] } }: Refusal): Link[] {
  if (role !== undefined) return [{ label: "Go to the dashboard", path: paths.dashboard }];
  const isSaid = remedies.some(({ kind }) => kind === "sign-in");
  return canSignIn && !isSaid ? [{ label: "Sign in", path: paths.signIn }] : [];
}

/** The same as a fragment. */
export function errorFragment({ visitor }: Frame, refusal: Refusal): Html {
  return messageBox(refusalMessage(refusal, mayChange(visitor)));
}

const pathOf = { printer: paths.printer, client: paths.client, driver: paths.driver };

/** What mends nothing, and so is of use to who may look alone. */
const lookedAt: readonly Remedy["kind"][] = ["package", "left-out", "client-printers", "sign-in"];

/** The same as a message on a page. */
export function refusalMessage(
  { message, help: { obstacles, remedies = [] } }: Refusal,
  isChangeable = true,
): Message {
  const text = obstacles === undefined ? message : obstaclesText(obstacles);
  const visible = isChangeable ? remedies : remedies.filter(({ kind }) => lookedAt.includes(kind));
  return { tone: "bad", text, links: visible.map(linkTo) };
}

/** Their names belong to the sentence: what can be done stands apart from them. */
function obstaclesText({ sentence, records, more }: Obstacles): Html {
  const names = records.map(
    ({ kind, id, name }, i) => html`${i > 0 && ", "}<a href="${pathOf[kind](id)}"><bdi>${name}</bdi></a>`,
  );
  return html`${sentence}: ${names}${more > 0 && ` and ${count(more)} more`}.`;
}
