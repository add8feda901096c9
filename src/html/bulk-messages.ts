import type { BulkResult } from "../domain/bulk.ts";
import { type Html, html } from "./html.ts";
import type { Message } from "./layout.ts";
import { deletedMessage } from "./messages.ts";
import { paths } from "./paths.ts";
import { counted } from "./text.ts";

/** The names of what printers were given, where they were given something. */
interface Given {
  readonly client?: string | undefined;
  readonly driver?: { readonly title: string; readonly model: string } | undefined;
}

/** After many printers were changed at once. */
export function bulkMessage(result: BulkResult, { client, driver }: Given): Message {
  const printers = counted(result.count, "printer");
  if (result.action === "delete") return deletedMessage(printers, result.to ?? undefined);
  if (result.action === "client") return good(movedText(printers, result.to, client));
  if (result.to === null) return good(html`${printers} without a driver now`);
  const name = html`<a href="${paths.driver(result.to)}"><bdi>${driver?.title ?? "another driver"}</bdi></a>`;
  const uses = result.count === 1 ? "uses" : "use";
  return good(html`${printers} now ${uses} ${name}.${modelsText(result, driver?.model ?? "")} Deploy again.`);
}

function good(text: Html): Message {
  return { tone: "good", text };
}

function movedText(printers: string, to: number | null, client: string | undefined): Html {
  if (to === null) return html`${printers} moved: without a client now`;
  return html`${printers} moved to <a href="${paths.client(to)}"><bdi>${client ?? "another client"}</bdi></a>`;
}

/** What became of models that printers had chosen by themselves. */
function modelsText({ kept, reset }: BulkResult, model: string): Html {
  const keeps =
    kept > 0 && html` ${counted(kept, "printer")} ${kept === 1 ? "keeps its" : "keep their"} model.`;
  const own = model === "" ? html`the driver’s own model` : html`the driver’s own model, <bdi>${model}</bdi>`;
  const takes =
    reset > 0 &&
    html` ${counted(reset, "printer")} ${reset === 1 ? "takes" : "take"} ${own}: theirs is not in it.`;
  return html`${keeps}${takes}`;
}
