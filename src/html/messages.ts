import type { ListedFormat } from "../domain/package-format.ts";
import { type Hole, type Html, html } from "./html.ts";
import type { Link, Message } from "./layout.ts";
import { paths } from "./paths.ts";
import { counted } from "./text.ts";

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

type NamedPrinter = Named & { readonly client_id: number | null; readonly driver_id: number | null };

/** After a change of a printer or its icon: what is likely to come next. */
export function printerMessage(
  done: Done | undefined,
  printer: NamedPrinter,
  formats: readonly ListedFormat[],
): Message | undefined {
  if (done === undefined) return undefined;
  const name = linkTo(paths.printer(printer.id), printer.name);
  const downloads = downloadsOf(printer, formats);
  switch (done) {
    case "saved":
      return good(html`Saved: ${name}`, [...downloads, nextPrinter(printer)]);
    case "changed":
      return printer.driver_id === null
        ? good(html`Saved: ${name}`, downloads)
        : good(html`Saved: ${name}. Nothing to deploy again.`);
    case "redeploy":
      return good(html`Saved: ${name}. Revision changed: deploy again.`, downloads);
    case "icon":
      return good(html`Saved: the icon of ${name}. Packages carry it from now on.`, downloads);
  }
}

/** A printer without a driver has nothing to download yet, and needs one. */
function downloadsOf(printer: NamedPrinter, formats: readonly ListedFormat[]): Link[] {
  if (printer.driver_id === null) {
    return [{ label: "Choose a driver", path: `${paths.printerEdit(printer.id)}#f-driver_id` }];
  }
  return formats.map(({ id, target }) => ({
    label: `Download for ${target}`,
    path: paths.package(printer.id, id),
  }));
}

function nextPrinter(printer: NamedPrinter): Link {
  const label = printer.client_id === null ? "Add another" : "Add another for this client";
  return { label, path: paths.nextPrinter(printer) };
}

/** After a client's form. */
export function clientMessage(done: Done | undefined, client: Named): Message | undefined {
  if (done === undefined) return undefined;
  const next = { label: "Add a printer for this client", path: paths.printerForClient(client.id) };
  return good(html`Saved: ${linkTo(paths.client(client.id), client.name)}`, [next]);
}

/** @param redeployed how many of its printers have another revision now */
export function driverMessage(driver: Named, redeployed: number): Message {
  const name = linkTo(paths.driver(driver.id), driver.name);
  const next = { label: "New printer with it", path: paths.printerWithDriver(driver.id) };
  if (redeployed === 0) return good(html`Saved: ${name}. Nothing to deploy again.`, [next]);
  return good(html`Saved: ${name}. ${deployAgain(redeployed)}`, [next]);
}

/** After printers got another driver. */
export function movedMessage(count: number, driver: Named): Message {
  const name = linkTo(paths.driver(driver.id), driver.name);
  const links = [{ label: "Open the driver", path: paths.driver(driver.id) }];
  return good(html`Moved: ${counted(count, "printer")} to ${name}. ${deployAgain(count)}`, links);
}

/** After printers got another client, which changes nothing on machines. @param client undefined: none */
export function regroupedMessage(count: number, client: Named | undefined): Message {
  const where = client ? html`to ${linkTo(paths.client(client.id), client.name)}` : "out of their client";
  const links = client ? [{ label: "Open the client", path: paths.client(client.id) }] : [];
  return good(html`Moved: ${counted(count, "printer")} ${where}. Nothing to deploy again.`, links);
}

function deployAgain(count: number): string {
  return `${counted(count, "revision")} changed: deploy again.`;
}

/**
 * After a record was deleted.
 * @param name empty where it is not known any more
 * @param deletion what can be taken back; undefined where it is final, because there was no room to keep it
 */
export function deletedMessage(name: string, deletion: number | undefined): Message {
  const text = name === "" ? html`Deleted` : html`Deleted: <bdi>${name}</bdi>`;
  if (deletion !== undefined) return { tone: "good", text, undo: { path: paths.undo(deletion) } };
  return { tone: "warn", text: html`${text}. There is no room to keep it: this cannot be taken back.` };
}

function good(text: Hole, links: readonly Link[] = []): Message {
  return { tone: "good", text, links };
}

function linkTo(path: string, name: string): Html {
  return html`<a href="${path}"><bdi>${name}</bdi></a>`;
}
