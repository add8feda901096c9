import type { Help, Obstacles, Remedy } from "../domain/errors.ts";
import { type Html, html } from "./html.ts";
import {
  anchor,
  canChange,
  helpLinks,
  type Link,
  type Message,
  messageBox,
  type PageContext,
  page,
} from "./layout.ts";
import { paths } from "./paths.ts";
import { remedyLink } from "./remedies.ts";
import { htmlList } from "./text.ts";

const titles: Record<number, string> = {
  401: "Sign in",
  403: "Not allowed",
  404: "Not found",
  405: "Not possible",
  409: "Not done",
  413: "Too large",
  422: "Not done",
  500: "An error in Platen",
  503: "Busy",
  507: "The disk is full",
};

/** The help about an error, by its status. */
const helpOf: Readonly<Record<number, Html>> = {
  413: helpLinks(["Limits", "limits"]),
  500: helpLinks(["Logs", "operating#logs"], ["Error messages", "errors"]),
  503: helpLinks(["What a 503 says", "limits#what-a-503-says"]),
  507: helpLinks(["Disk space", "operating#disk-space"]),
};

/** Why a request was refused, and how the user can go on. */
export interface Refusal {
  readonly message: string;
  readonly help: Help;
}

/**
 * An error page: what happened, why, and what to do.
 * @param next links to continue with, the most likely first
 */
export function errorPage(
  context: PageContext,
  status: number,
  refusal: Refusal,
  next: readonly Link[],
): Html {
  const { text, links = [] } = refusalMessage(refusal, canChange(context.visitor));
  const back = [...next, ...homeLinks(context, refusal)];
  return page(
    { ...context, title: titles[status] ?? "Not possible" },
    html`<p>${text}</p>${context.visitor.role && helpOf[status]}
    ${links.length > 0 && html`<ul class="actions">${links.map((link) => html`<li>${anchor(link)}</li>`)}</ul>`}
    ${back.length > 0 && html`<p class="actions">${back.map(({ label, path }) => html`<a class="button" href="${path}">${label}</a>`)}</p>`}`,
  );
}

/** The dashboard, or the sign-in page where Platen has one and no remedy links it. */
function homeLinks({ visitor }: PageContext, { help }: Refusal): Link[] {
  if (visitor.role !== undefined) return [{ label: "Go to the dashboard", path: paths.dashboard }];
  const isOffered = help.remedies?.some(({ kind }) => kind === "sign-in");
  return visitor.canSignIn && !isOffered ? [{ label: "Sign in", path: paths.signIn }] : [];
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

/** Completes the sentence with the names of the records, each a link to its page. */
function obstaclesText({ sentence, records, more }: Obstacles): Html {
  const names = records.map(
    ({ kind, id, name }) => html`<a href="${pathOf[kind](id)}"><bdi>${name}</bdi></a>`,
  );
  return html`${sentence}: ${htmlList(names, more)}.`;
}
