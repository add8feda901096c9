import type { App } from "../app.ts";
import { type BulkChange, type BulkResult, parseBulk, parseIds } from "../domain/bulk.ts";
import { driverTitle } from "../domain/driver.ts";
import type { UserError } from "../domain/errors.ts";
import type { FormInput } from "../domain/fields.ts";
import { printerFormValues } from "../domain/printer-fields.ts";
import type { Narrowing } from "../domain/search.ts";
import { bulkMessage } from "../html/bulk-messages.ts";
import type { Message } from "../html/layout.ts";
import { narrowedPath } from "../html/narrowing.ts";
import { paths } from "../html/paths.ts";
import { printersPage } from "../html/printer-list.ts";
import { answerForm, changing, sentForm } from "./answer-form.ts";
import { assets } from "./assets.ts";
import { readFields } from "./forms.ts";
import { narrowingBehind } from "./narrowing.ts";
import { changedList, choicesOf, printersShown } from "./printer-list.ts";
import type { Reply } from "./reply.ts";
import type { Context } from "./router.ts";

/** `POST /printers/bulk` */
export async function change({ app, request }: Context): Promise<Reply> {
  const fields = await readFields(request);
  const form: FormInput = Object.fromEntries(fields);
  const narrowing = narrowingBehind(request, paths.printers, form);
  const ids = fields.getAll("ids");
  const changed = await changing(async () => changeAll(app, parseIds(ids), parseBulk(form)));
  return answerForm(request, changed, {
    redirect: (result) => withResult(narrowedPath(paths.printers, narrowing), result),
    page: (error) => refusedPage(app, narrowing, ids, error),
    fragment: ({ error, value }) => {
      // The page keeps its list, in which all are still chosen.
      if (error) throw error;
      return changedList(app, narrowing, messageOf(app, value));
    },
  });
}

/** The list again, with the same rows chosen. */
async function refusedPage(app: App, narrowing: Narrowing, ids: readonly string[], { message }: UserError) {
  const chosen = new Set(ids.flatMap((text) => text.split(",")).map(Number));
  const list = { ...(await printersShown(app, narrowing)), chosen };
  const frame = { assets, message: { tone: "bad", text: message } } as const;
  const form = sentForm(printerFormValues());
  return printersPage(frame, list, { form, choices: choicesOf(app, form), isAsked: false });
}

async function changeAll(
  { store, undo }: App,
  ids: readonly number[],
  change: BulkChange,
): Promise<BulkResult> {
  const result = { action: change.action, count: ids.length, to: null, kept: 0, reset: 0 };
  switch (change.action) {
    case "client":
      await store.manyPrinters.moveAll(ids, change.client_id);
      return { ...result, to: change.client_id };
    case "driver": {
      const models = await store.manyPrinters.useDriver(ids, change.driver_id, change.driver_desc);
      return { ...result, ...models, to: change.driver_id };
    }
    case "delete":
      return { ...result, to: (await undo.removePrinters(ids)) ?? null };
  }
}

function messageOf({ store }: App, result: BulkResult): Message {
  const { action, to } = result;
  const driver = action === "driver" && to !== null ? store.drivers.find(to) : undefined;
  return bulkMessage(result, {
    client: action === "client" && to !== null ? store.clients.find(to)?.name : undefined,
    driver: driver && { title: driverTitle(driver), model: driver.driver_desc },
  });
}

const numbers = ["count", "to", "kept", "reset"] as const;

/** The address that a browser without scripts goes on to, which says what became of the printers. */
function withResult(path: string, result: BulkResult): string {
  const query = new URLSearchParams({ bulk: result.action });
  for (const name of numbers) query.set(name, String(result[name] ?? ""));
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

/** What such an address says; undefined where it says nothing that is known. */
export function bulkMessageIn(app: App, query: URLSearchParams): Message | undefined {
  const action = (["client", "driver", "delete"] as const).find((known) => known === query.get("bulk"));
  if (action === undefined) return undefined;
  const number = (name: (typeof numbers)[number]) =>
    Number(/^\d{1,15}$/.exec(query.get(name) ?? "")?.[0] ?? 0);
  const [count, to, kept, reset] = [number("count"), number("to"), number("kept"), number("reset")];
  return messageOf(app, { action, count, to: to === 0 ? null : to, kept, reset });
}
