import type { ChangeDetails } from "../domain/deletion.ts";
import type { ListedFormat } from "../domain/deploy/package-format.ts";
import type { BulkResult } from "../domain/printers/bulk.ts";
import type { WorseCounts } from "../domain/printers/change-effects.ts";
import type { ClientName, ListedPrinter, PrinterWithState } from "../domain/printers/listings.ts";
import { type Hole, type Html, html } from "./html.ts";
import type { Link, Message } from "./layout.ts";
import { narrowedPath } from "./list-filter.ts";
import { paths } from "./paths.ts";
import { remedyOf } from "./remedies.ts";
import { counted, isolated } from "./text.ts";

const completedChanges = ["first", "saved", "changed", "redeploy", "icon", "preferences"] as const;

/** A finished change, as the redirect to the next page names it in the query parameter `done`. */
export type CompletedChange = (typeof completedChanges)[number];

/** The change in the query parameter `done`, if any. */
export function completedChangeIn(query: URLSearchParams): CompletedChange | undefined {
  return completedChanges.find((word) => word === query.get("done"));
}

/**
 * The message after a change of a printer or its files, with next steps. For a printer that is blocked or worse than before,
 * it gives the worst finding.
 * @param isDeployed whether any revision of the printer was downloaded before
 */
export function printerMessage(
  done: CompletedChange | undefined,
  row: PrinterWithState,
  formats: readonly ListedFormat[],
  isDeployed: boolean,
  isWorse = false,
): Message | undefined {
  if (done === undefined) return undefined;
  const { printer, findings } = row;
  const name = recordLink(paths.printer(printer.id), printer.name);
  const next = done === "saved" || done === "first" ? [nextPrinter(row)] : [];
  const worst = findings.find(({ state, other }) => state === "blocked" || (isWorse && other === undefined));
  if (worst !== undefined) {
    const text = html`${savedText(done, name)}. ${isolated(worst.text)}`;
    return { tone: "warn", text, links: [remedyOf(worst, row), ...next] };
  }
  const downloads = formats.map(({ id, target }) => ({
    label: `Download ${target} package`,
    path: paths.package(printer.id, id),
  }));
  const collision = findings.find(({ other }) => other !== undefined);
  if (done !== "icon" && collision?.other !== undefined) {
    const { text, other } = collision;
    const open = { label: html`<span>Open “<bdi>${other.name}</bdi>”</span>`, path: paths.printer(other.id) };
    return {
      tone: "warn",
      text: html`${savedText(done, name)}. ${isolated(text)}`,
      links: [open, ...downloads, ...next],
    };
  }
  const saved = savedText(done, name);
  if (done === "first") return good(html`${saved}. Your first package is ready.`, [...downloads, ...next]);
  if (done === "icon") return good(html`${saved}. Download the Intune package to use it.`, downloads);
  // As on the page, compares with the last download: earlier changes count, and reverted changes do not.
  if (done === "saved" || !isDeployed) return good(saved, [...downloads, ...next]);
  if (!row.changed) return good(html`${saved}. You do not need to deploy it again.`);
  return good(html`${saved}. Download and deploy the new package.`, downloads);
}

function savedText(done: CompletedChange, name: Html): Html {
  if (done === "icon") return html`Saved: icon of ${name}`;
  return done === "preferences" ? html`Saved: vendor preferences of ${name}` : html`Saved: ${name}`;
}

function nextPrinter({ client, driver }: ListedPrinter): Link {
  const label = client === undefined ? "Add another printer" : "Add another printer for this client";
  return { label, path: paths.nextPrinter(client?.id, driver?.id) };
}

/** The message after a client was saved. */
export function clientMessage(done: CompletedChange | undefined, client: ClientName): Message | undefined {
  if (done === undefined) return undefined;
  const next = { label: "New printer for this client", path: paths.printerForClient(client.id) };
  return good(html`Saved: ${recordLink(paths.client(client.id), client.name)}`, [next]);
}

/**
 * The message after a record was deleted.
 * @param deletion the id of the deletion, to undo it; undefined if there was no room to keep the record
 * @param isPrinter also for several printers
 */
export function deletedMessage(name: string, deletion: number | undefined, isPrinter = false): Message {
  const text = html`Deleted: <bdi>${name}</bdi>.${isPrinter && " Nothing was uninstalled from PCs."}`;
  if (deletion !== undefined) return { tone: "good", text, undo: { path: paths.undo(deletion) } };
  return { tone: "warn", text: html`${text} Platen had no space to keep it. You cannot undo this.` };
}

/** Adds what a message says of a change besides its success. */
export function detailedMessage(message: Message, { undo, kept = [] }: ChangeDetails): Message {
  const lines = kept.map(
    ({ label, text }) =>
      html`<br>Another user changed “${label}” to ${text === "" ? "empty" : html`“<bdi>${text}</bdi>”`}. Platen kept that value.`,
  );
  if (undo !== "no room") return { ...message, text: html`${message.text}${lines}` };
  const final = html`<br>Platen had no space to keep the earlier values. You cannot undo this.`;
  return { ...message, tone: "warn", text: html`${message.text}${lines}${final}` };
}

function good(text: Hole, links: readonly Link[] = []): Message {
  return { tone: "good", text, links };
}

function recordLink(path: string, name: string): Html {
  return html`<a href="${path}"><bdi>${name}</bdi></a>`;
}

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

const worseWords = [
  ["blocked", "is now blocked", "are now blocked", "Show blocked printers"],
  ["attention", "now needs attention", "now need attention", "Show printers that need attention"],
] as const;

/** The message after a change of many printers. It is green only where no printer is worse than before. */
export function changedMessage(text: Html, counts: WorseCounts): Message {
  const worse = worseWords.filter(([state]) => counts[state] > 0);
  if (worse.length === 0) return { tone: "good", text };
  const told = worse.map(([state, one, many]) => {
    return html` ${counted(counts[state], "printer")} ${counts[state] === 1 ? one : many}.`;
  });
  const links = worse.map(([state, , , label]) => {
    return { label, path: narrowedPath(paths.printers, { q: "", client: undefined, state }) };
  });
  return { tone: "warn", text: html`${text}${told}`, links };
}
