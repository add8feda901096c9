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
import { clientMessage, driverMessage } from "../../html/printers/bulk-messages.ts";
import { counted } from "../../html/text.ts";
import { giveDriver } from "../../services/printers/bulk-driver.ts";
import { answerForm, changing, sentForm } from "../answer-form.ts";
import type { Reply } from "../answers/reply.ts";
import { narrowingBehind } from "../list-filter.ts";
import { frameOf } from "../page-context.ts";
import { readFields } from "../requests/forms.ts";
import type { Context } from "../router.ts";
import { deletedPath, withQuery } from "../undo-message.ts";
import { changedList, printersPageOf, printersShown } from "./printer-list.ts";

/** `POST /printers/bulk` */
export async function change({ app, request }: Context): Promise<Reply> {
  const fields = await readFields(request);
  const form: FormInput = Object.fromEntries(fields);
  const narrowing = narrowingBehind(request, "printers", form);
  const ids = fields.getAll("ids");
  const changed = await changing(async () => changeAll(app, parseIds(ids), parseBulk(form)));
  return answerForm(request, changed, {
    redirect: (result) => resultPath(app, narrowedPath(paths.printers, narrowing), result),
    page: (error) => refusedPage(app, request, narrowing, ids, form, error),
    fragment: ({ error, value }) => {
      // The page keeps its list, in which all are still chosen.
      if (error) throw error;
      return changedList(app, narrowing, messageOf(app, value));
    },
  });
}

/** The list again, with the same rows chosen, and what was to become of them. */
async function refusedPage(
  app: App,
  request: IncomingMessage,
  narrowing: Narrowing,
  ids: readonly string[],
  sent: FormInput,
  error: UserError,
) {
  const { message } = error;
  const chosen = new Set(ids.flatMap((text) => text.split(",")).map(Number));
  const list = { ...(await printersShown(app, narrowing)), chosen, bulk: sentForm(sent, error) };
  const frame = frameOf(request, { tone: "bad", text: message });
  return printersPageOf(app, frame, list, sentForm(printerFormValues()), false);
}

async function changeAll(app: App, ids: readonly number[], change: BulkChange): Promise<BulkResult> {
  const { store, undo } = app;
  const count = ids.length;
  switch (change.action) {
    case "client":
      await store.manyPrinters.moveAll(ids, change.client_id);
      return { action: "client", count, to: change.client_id };
    case "driver":
      return { action: "driver", count, to: change.driver_id, ...(await giveDriver(store, ids, change)) };
    case "delete":
      return { action: "delete", count, deletion: await undo.removePrinters(ids) };
  }
}

function messageOf({ store }: App, result: BulkResult): Message {
  if (result.action === "delete") return deletedMessage(counted(result.count, "printer"), result.deletion);
  const { action, to } = result;
  if (action === "client") return clientMessage(result, to === null ? undefined : store.clients.find(to));
  return driverMessage(result, to === null ? undefined : store.drivers.find(to));
}

/** The address that a browser without scripts goes on to, which says what became of the printers. */
function resultPath({ outcomes }: App, path: string, result: BulkResult): string {
  if (result.action === "delete" && result.deletion !== undefined) return deletedPath(path, result.deletion);
  return withQuery(path, "bulk", outcomes.remember({ kind: "bulk", result }));
}

/** What such an address says; undefined where it says nothing that is known. */
export function bulkMessageIn(app: App, query: URLSearchParams): Message | undefined {
  const found = app.outcomes.find("bulk", query.get("bulk"));
  return found && messageOf(app, found.result);
}
