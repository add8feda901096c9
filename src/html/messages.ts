import type { ListedFormat } from "../domain/deploy/package-format.ts";
import type { ListedPrinter, StatedPrinter } from "../domain/printers/listings.ts";
import { type Hole, type Html, html } from "./html.ts";
import type { Link, Message } from "./layout.ts";
import { paths } from "./paths.ts";
import { remedyOf } from "./remedies.ts";
import { isolated } from "./text.ts";

const doneWords = ["saved", "changed", "redeploy", "icon"] as const;

/** What became of a change, as an address says it to the page that a browser goes on to. */
export type Done = (typeof doneWords)[number];

/** What an address says became of a change; undefined where it says nothing that is known. */
export function doneIn(query: URLSearchParams): Done | undefined {
  return doneWords.find((word) => word === query.get("done"));
}

interface Named {
  readonly id: number;
  readonly name: string;
}

/**
 * After a change of a printer or its icon: what is likely to come next; of a blocked one, what is in the way.
 * @param isDeployed whether any revision of it was downloaded before
 */
export function printerMessage(
  done: Done | undefined,
  row: StatedPrinter,
  formats: readonly ListedFormat[],
  isDeployed: boolean,
): Message | undefined {
  if (done === undefined) return undefined;
  const { printer, findings } = row;
  const name = linkTo(paths.printer(printer.id), printer.name);
  const next = done === "saved" ? [nextPrinter(row)] : [];
  const [worst] = findings;
  if (row.state === "blocked" && worst !== undefined) {
    const text = html`${savedWhat(done, name)}. ${isolated(worst.text)}`;
    return { tone: "warn", text, links: [remedyOf(worst, row), ...next] };
  }
  const downloads = formats.map(({ id, target }) => ({
    label: `Download for ${target}`,
    path: paths.package(printer.id, id),
  }));
  switch (done) {
    case "saved":
      return good(savedWhat(done, name), [...downloads, ...next]);
    case "changed":
    case "redeploy":
      // As the page says it of what was downloaded last: what was changed before counts, what was changed back does not.
      if (!isDeployed) return good(savedWhat(done, name), downloads);
      if (!row.changed) return good(html`${savedWhat(done, name)}. Nothing to deploy again.`);
      return good(html`${savedWhat(done, name)}. Revision changed: deploy again.`, downloads);
    case "icon":
      return good(html`${savedWhat(done, name)}. Packages carry it from now on.`, downloads);
  }
}

function savedWhat(done: Done, name: Html): Html {
  return done === "icon" ? html`Saved: the icon of ${name}` : html`Saved: ${name}`;
}

function nextPrinter({ client, driver }: ListedPrinter): Link {
  const label = client === undefined ? "Add another" : "Add another for this client";
  return { label, path: paths.nextPrinter(client?.id, driver?.id) };
}

/** After a client's form. */
export function clientMessage(done: Done | undefined, client: Named): Message | undefined {
  if (done === undefined) return undefined;
  const next = { label: "Add a printer for this client", path: paths.printerForClient(client.id) };
  return good(html`Saved: ${linkTo(paths.client(client.id), client.name)}`, [next]);
}

/**
 * After a record was deleted.
 * @param deletion what can be taken back; undefined where it is final, because there was no room to keep it
 */
export function deletedMessage(name: string, deletion: number | undefined): Message {
  const text = html`Deleted: <bdi>${name}</bdi>`;
  if (deletion !== undefined) return { tone: "good", text, undo: { path: paths.undo(deletion) } };
  return { tone: "warn", text: html`${text}. There is no room to keep it: this cannot be taken back.` };
}

function good(text: Hole, links: readonly Link[] = []): Message {
  return { tone: "good", text, links };
}

function linkTo(path: string, name: string): Html {
  return html`<a href="${path}"><bdi>${name}</bdi></a>`;
}
