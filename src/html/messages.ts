import type { ListedFormat } from "../domain/package-format.ts";
import { html } from "./html.ts";
import type { Message } from "./layout.ts";
import { paths } from "./paths.ts";

/** What became of a change, as an address says it to the page that a browser goes on to. */
export type Done = "saved" | "changed" | "redeploy";

/** What an address says became of a change; undefined where it says nothing that is known. */
export function doneIn(query: URLSearchParams): Done | undefined {
  const done = query.get("done");
  return done === "saved" || done === "changed" || done === "redeploy" ? done : undefined;
}

interface Named {
  readonly id: number;
  readonly name: string;
}

/** After a printer's form: what can be downloaded, and the next printer of the same client. */
export function printerMessage(
  done: Done | undefined,
  printer: Named & { readonly client_id: number | null; readonly driver_id: number | null },
  formats: readonly ListedFormat[],
): Message | undefined {
  if (done === undefined) return undefined;
  const name = html`<a href="${paths.printer(printer.id)}"><bdi>${printer.name}</bdi></a>`;
  const downloads = formats.map(({ id, target }) => ({
    label: `Download for ${target}`,
    path: paths.package(printer.id, id),
  }));
  const links = printer.driver_id === null ? [] : downloads;
  if (done === "changed") return { tone: "good", text: html`Saved: ${name}. Nothing to deploy again.` };
  if (done === "redeploy") {
    return { tone: "good", text: html`Saved: ${name}. Revision changed: deploy again.`, links };
  }
  const label = printer.client_id === null ? "Add another" : "Add another for this client";
  const next = { label, path: paths.nextPrinter(printer) };
  return { tone: "good", text: html`Saved: ${name}`, links: [...links, next] };
}

/** After a client's form. */
export function clientMessage(done: Done | undefined, client: Named): Message | undefined {
  if (done === undefined) return undefined;
  const text = html`Saved: <a href="${paths.client(client.id)}"><bdi>${client.name}</bdi></a>`;
  const next = { label: "Add a printer for this client", path: paths.printerForClient(client.id) };
  return { tone: "good", text, links: [next] };
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
