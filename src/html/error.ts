import { type Html, html } from "./html.ts";
import { type Frame, messageBox, page } from "./layout.ts";
import { paths } from "./paths.ts";

const titles: Record<number, string> = {
  403: "Not allowed",
  404: "Not here",
  405: "Not possible this way",
  409: "In the way",
  413: "Too large",
  422: "Not possible yet",
  500: "An error of ours",
  503: "Busy",
};

/** A page for what went wrong: what happened, why, and what to do. */
export function errorPage(frame: Frame, status: number, message: string): Html {
  return page(
    { ...frame, title: titles[status] ?? "Not possible" },
    html`<p>${message}</p><p><a class="button" href="${paths.dashboard}">Go to the dashboard</a></p>`,
  );
}

/** The same as a fragment. */
export function errorFragment(message: string): Html {
  return messageBox({ tone: "bad", text: message });
}
