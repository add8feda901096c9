import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import type { UserError } from "../../domain/errors.ts";
import type { FormInput } from "../../domain/fields.ts";
import { type BulkChange, type BulkResult, parseBulk, parseIds } from "../../domain/printers/bulk.ts";
import { printerFormValues } from "../../domain/printers/printer-fields.ts";
import type { Narrowing } from "../../domain/printers/search.ts";
import type { Message } from "../../html/layout.ts";
import { narrowedPath } from "../../html/list-filter.ts";
import { deletedMessage } from "../../html/messages.ts";
import { paths } from "../../html/paths.ts";
import { driverChangedMessage, movedToClientMessage } from "../../html/printers/bulk-messages.ts";
import { counted } from "../../html/text.ts";
import { assignDriver } from "../../services/printers/bulk-driver.ts";
import { answerForm, sentForm, tryChange } from "../answer-form.ts";
import type { Reply } from "../answers/reply.ts";
import { narrowingOfPage } from "../list-filter.ts";
import { pageContextOf } from "../page-context.ts";
import { readFields } from "../requests/forms.ts";
import type { Context } from "../router.ts";
import { deletedPath, withQuery } from "../undo-message.ts";
import { printerListUpdate, printersPageOf, readPrinterList } from "./printer-list.ts";

/** `POST /printers/bulk` */
export async function change({ app, request }: Context): Promise<Reply> {
  const fields = await readFields(request);
  const form: FormInput = Object.fromEntries(fields);
  const narrowing = narrowingOfPage(request, "printers", form);
  const ids = fields.getAll("ids");
  const changed = await tryChange(async () => changeAll(app, parseIds(ids), parseBulk(form)));
  return answerForm(request, changed, {
    redirect: (result) => resultPath(app, narrowedPath(paths.printers, narrowing), result),
    page: (error) => refusedPage(app, request, narrowing, ids, form, error),
    fragment: ({ error, value }) => {
      // A thrown error becomes a message, and the page keeps its list with the ticked rows.
      if (error) throw error;
      return printerListUpdate(app, narrowing, bulkMessage(app, value));
    },
  });
}

/** The page after a refused bulk change, with the same rows ticked. */
async function refusedPage(
  app: App,
  request: IncomingMessage,
  narrowing: Narrowing,
  ids: readonly string[],
  sent: FormInput,
  error: UserError,
) {
  const chosen = new Set(ids.flatMap((text) => text.split(",")).map(Number));
  const list = { ...(await readPrinterList(app, narrowing)), chosen, bulk: sentForm(sent, error) };
  const pageContext = pageContextOf(request, { tone: "bad", text: error.message });
  return printersPageOf(app, pageContext, list, sentForm(printerFormValues()), false);
}

async function changeAll(app: App, ids: readonly number[], change: BulkChange): Promise<BulkResult> {
  const { store, undo } = app;
  const count = ids.length;
  switch (change.action) {
    case "client":
      await store.manyPrinters.moveAll(ids, change.client_id);
      return { action: "client", count, to: change.client_id };
    case "driver":
      return { action: "driver", count, to: change.driver_id, ...(await assignDriver(store, ids, change)) };
    case "delete":
      return { action: "delete", count, deletion: await undo.removePrinters(ids) };
  }
}

function bulkMessage({ store }: App, result: BulkResult): Message {
  if (result.action === "delete") return deletedMessage(counted(result.count, "printer"), result.deletion);
  const { action, to } = result;
  if (action === "client")
    return movedToClientMessage(result, to === null ? undefined : store.clients.find(to));
  return driverChangedMessage(result, to === null ? undefined : store.drivers.find(to));
}

/** The path to which a plain form is redirected. Its query names the result. */
function resultPath({ results }: App, path: string, result: BulkResult): string {
  if (result.action === "delete" && result.deletion !== undefined) return deletedPath(path, result.deletion);
  return withQuery(path, "bulk", results.remember({ kind: "bulk", result }));
}

/** The message for the result that a query names; undefined where there is none. */
export function bulkMessageIn(app: App, query: URLSearchParams): Message | undefined {
  const found = app.results.find("bulk", query.get("bulk"));
  return found && bulkMessage(app, found.result);
}
