import type { BulkResult } from "../../domain/printers/bulk.ts";
import type { WorseCounts } from "../../domain/printers/change-effects.ts";
import { type Html, html } from "../html.ts";
import type { Message } from "../layout.ts";
import { narrowedPath } from "../list-filter.ts";
import { paths } from "../paths.ts";
import { counted } from "../text.ts";

type Changed = Exclude<BulkResult, { readonly action: "delete" }>;

/** The message after a bulk change. @param target the new client or driver; undefined if it was deleted meanwhile */
export function bulkMessage({ action, count, to, worse }: Changed, target: string | undefined): Message {
  const printers = counted(count, "printer");
  const isClient = action === "client";
  if (to === null)
    return changedMessage(html`${printers} now ${count === 1 ? "has" : "have"} no ${action}.`, worse);
  const path = isClient ? paths.client(to) : paths.driver(to);
  const name = html`<a href="${path}"><bdi>${target ?? `another ${action}`}</bdi></a>`;
  if (isClient) return changedMessage(html`${printers} moved to ${name}.`, worse);
  return changedMessage(
    html`${printers} now ${count === 1 ? "uses" : "use"} ${name}. Download and deploy ${count === 1 ? "it" : "them"} again.`,
    worse,
  );
}

/** The message after a change of many printers. It is green only where no printer is worse than before. */
export function changedMessage(text: Html, { blocked, attention }: WorseCounts): Message {
  const worse = [["blocked", blocked] as const, ["attention", attention] as const].filter(([, n]) => n > 0);
  if (worse.length === 0) return { tone: "good", text };
  const told = worse.map(
    ([state, n]) =>
      html` ${counted(n, "printer")} ${state === "blocked" ? (n === 1 ? "is now blocked" : "are now blocked") : n === 1 ? "now needs attention" : "now need attention"}.`,
  );
  const links = worse.map(([state]) => {
    const path = narrowedPath(paths.printers, { q: "", client: undefined, state });
    return {
      label: state === "blocked" ? "Show blocked printers" : "Show printers that need attention",
      path,
    };
  });
  return { tone: "warn", text: html`${text}${told}`, links };
}
