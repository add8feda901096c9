import type { IncomingMessage } from "node:http";
import { setImmediate } from "node:timers/promises";
import type { App } from "../../app.ts";
import { architecturesInWords, driverTitle } from "../../domain/drivers/driver.ts";
import type { UserError } from "../../domain/errors.ts";
import type { FormInput } from "../../domain/fields.ts";
import { type BulkChange, type BulkResult, parseBulk, parseIds } from "../../domain/printers/bulk.ts";
import { worseCounts } from "../../domain/printers/change-effects.ts";
import { printerFormValues } from "../../domain/printers/printer-fields.ts";
import type { Narrowing } from "../../domain/printers/search.ts";
import type { Message } from "../../html/layout.ts";
import { narrowedPath } from "../../html/list-filter.ts";
import { bulkMessage, deletedMessage } from "../../html/messages.ts";
import { paths } from "../../html/paths.ts";
import { type BulkPreview, bulkPreview, bulkPreviewPage } from "../../html/printers/move-printers.ts";
import { counted } from "../../html/text.ts";
import { changeBulk, planBulk } from "../../services/printers/bulk-changes.ts";
import { answerForm, isNavigation, type Result, sentForm, tryChange } from "../answer-form.ts";
import { acceptsHtml } from "../answers/errors.ts";
import { htmlReply, type Reply, textReply } from "../answers/reply.ts";
import { narrowingOfPage } from "../list-filter.ts";
import { pageContextOf } from "../page-context.ts";
import { readFields } from "../requests/forms.ts";
import type { Context } from "../router.ts";
import { deletedPath, withDetails, withQuery } from "../undo-message.ts";
import { printerListUpdate, printersPageOf, readPrinterList } from "./printer-list.ts";

/** `POST /printers/bulk`: without `confirmed`, a change of client or driver answers a preview and changes nothing */
export async function change({ app, request }: Context): Promise<Reply> {
  const fields = await readFields(request);
  const form: FormInput = Object.fromEntries(fields);
  const narrowing = narrowingOfPage(request, "printers", form);
  const ids = fields.getAll("ids");
  const changed = await tryChange(async () => changeAll(app, parseIds(ids), parseBulk(form), form));
  const list = narrowedPath(paths.printers, narrowing);
  if (changed.value?.action === "preview") return previewReply(request, changed.value, form, list);
  return answerForm(request, changed as Result<BulkResult>, {
    redirect: (result) => resultPath(app, list, result),
    page: (error) => refusedPage(app, request, narrowing, ids, form, error),
    fragment: ({ error, value }) => {
      // A thrown error becomes a message, and the page keeps its list with the ticked rows.
      if (error) throw error;
      return printerListUpdate(app, narrowing, messageOf(app, value));
    },
  });
}

/** What a change would do, as long as nobody has confirmed it as it is now. */
interface Preview extends Omit<BulkPreview, "fields" | "back"> {
  readonly action: "preview";
  readonly ids: readonly number[];
}

/** The preview as a page, a fragment, or for other programs as plain text. */
function previewReply(request: IncomingMessage, preview: Preview, form: FormInput, back: string): Reply {
  const { ids, plan, isStale } = preview;
  const status = isStale ? 409 : 200;
  const isPage = isNavigation(request);
  if (!isPage && request.headers["hx-request"] === undefined && !acceptsHtml(request))
    return textReply(status, previewText(preview));
  const sent = ["action", "client_id", "driver_id", "driver_desc", "only_unmatched", "narrowed"];
  const kept = sent.flatMap((name) => (form[name] === undefined ? [] : [[name, form[name]] as const]));
  const fields = { ...Object.fromEntries(kept), ids: ids.join(), preview: plan.digest, confirmed: "1" };
  const data = { ...preview, fields, back };
  return htmlReply(isPage ? bulkPreviewPage(pageContextOf(request), data) : bulkPreview(data), status);
}

function previewText({ what, plan, effects, isStale }: Preview): string {
  const reasons = new Map(
    effects.worse.flatMap(({ state, text, printers }) =>
      printers.map(({ id }) => [id, `; becomes ${state}: ${text}`] as const),
    ),
  );
  const lines = plan.pairs.flatMap(({ from, to, printers }) =>
    printers.map(({ id, name }) => {
      return `${name}: ${from || `no ${what}`} → ${to || `no ${what}`}${reasons.get(id) ?? ""}`;
    }),
  );
  const lost = effects.lostMachines.map(({ machines, printers }) => {
    const names = printers.map(({ name }) => name).join(", ");
    return `The new driver does not work on ${architecturesInWords(machines)} PCs: ${names}`;
  });
  const { redeployed } = effects;
  const all = [
    isStale && "The data changed meanwhile. Check the new effects below.",
    ...lines,
    ...lost,
    redeployed > 0 && `The packages of ${counted(redeployed, "printer")} change. Deploy them again.`,
    "Not changed yet. Send the request again with confirmed=1.",
  ];
  return all.filter((line) => line !== false).join("\n");
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

async function changeAll(
  app: App,
  ids: readonly number[],
  change: BulkChange,
  { confirmed, preview: seen }: FormInput,
): Promise<BulkResult | Preview> {
  const { store, undo } = app;
  const { action } = change;
  if (action === "delete") return { action, count: ids.length, deletion: await undo.removePrinters(ids) };
  const preview = await previewOf(app, ids, change);
  if (confirmed !== "1") return preview;
  // With thousands of printers, other requests are answered between the steps.
  await setImmediate();
  const done = await undo.keep(changeBulk(store, ids, change, seen));
  if (done === undefined) return { ...(await previewOf(app, ids, change)), isStale: true };
  const to = change.action === "client" ? change.client_id : change.driver_id;
  return { action, to, ...done, worse: worseCounts(preview.effects) };
}

async function previewOf(
  { store, overview }: App,
  ids: readonly number[],
  change: Parameters<typeof planBulk>[2],
): Promise<Preview> {
  const plan = planBulk(store, ids, change);
  await setImmediate();
  const effects = await overview.effectsOf(plan.changes);
  return { action: "preview", what: change.action, ids, plan, effects, isStale: false };
}

function messageOf(app: App, result: BulkResult): Message {
  const { clients, drivers } = app.store;
  if (result.action === "delete")
    return deletedMessage(counted(result.count, "printer"), result.deletion, true);
  const { action, undo } = result;
  const to = result.to ?? 0;
  const driver = action === "driver" ? drivers.findSummary(to) : undefined;
  const target = action === "client" ? clients.find(to)?.name : driver && driverTitle(driver);
  return withDetails(app, bulkMessage(result, target), { undo });
}

/** The path to which a plain form is redirected. Its query names the result. */
function resultPath({ results }: App, path: string, result: BulkResult): string {
  if (result.action === "delete" && result.deletion !== undefined) return deletedPath(path, result.deletion);
  return withQuery(path, "bulk", results.remember({ kind: "bulk", result }));
}

/** The message for the result that a query names; undefined where there is none. */
export function bulkMessageIn(app: App, query: URLSearchParams): Message | undefined {
  const found = app.results.find("bulk", query.get("bulk"));
  return found && messageOf(app, found.result);
}
