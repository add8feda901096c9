import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { decodeText } from "../../domain/decode.ts";
import { UserError } from "../../domain/errors.ts";
import { type FormInput, isTicked } from "../../domain/fields.ts";
import type { ImportDone } from "../../domain/import/import-plan.ts";
import { html } from "../../html/html.ts";
import {
  emptyImport,
  type ImportForm,
  type ImportPageData,
  importMessage,
  importPage,
  importProblem,
  importStart,
} from "../../html/import/import.ts";
import { type ImportRefusal, importPreview } from "../../html/import/import-preview.ts";
import { type Message, notify } from "../../html/layout.ts";
import { paths } from "../../html/paths.ts";
import { printServerCommand } from "../../pkg/scripts/commands.ts";
import {
  exportPrinters,
  type ImportPreview,
  type ImportSource,
  previewImport,
  runImport,
} from "../../services/import/import.ts";
import { isNavigation } from "../answer-form.ts";
import { statusOf } from "../answers/errors.ts";
import { bytesDownload, htmlReply, type Reply, redirect } from "../answers/reply.ts";
import { audited } from "../audited-downloads.ts";
import { pageContextOf } from "../page-context.ts";
import { importLimitBytes, readMultipart } from "../requests/multipart.ts";
import type { Context } from "../router.ts";
import { withDetails } from "../undo-message.ts";

/** The maximum size of a list, both of an uploaded one and of the one in a preview's hidden field. */
export const listLimitBytes = 8 * 1024 * 1024;
/** In UTF-16 code units. A form with an error is shown without a longer text. */
const maxTextSentBack = 256 * 1024;

/** `GET /export/printers.csv`; `?separator=semicolon` for an Excel whose decimal sign is a comma */
export async function download(context: Context): Promise<Reply> {
  const { app, url } = context;
  const separator = url.searchParams.get("separator") === "semicolon" ? ";" : ",";
  const bytes = exportPrinters(app.store, separator);
  const type = "text/csv; charset=utf-8; header=present";
  return audited(context, { what: "printers.csv" }, bytesDownload(bytes, { type, fileName: "printers.csv" }));
}

/** `GET /import` */
export function show({ app, request, url }: Context): Reply {
  const imported = app.results.find("imported", url.searchParams.get("imported"));
  const message = imported && messageOf(app, imported.result);
  return htmlReply(importPage(pageContextOf(request, message), importStart(pageData(app), emptyImport)));
}

/** `GET /import/preview`, for example when a preview is reloaded: there is no list to show */
export function redirectToForm(): Reply {
  return redirect(paths.import);
}

/** `POST /import/preview` */
export function preview({ app, request }: Context): Promise<Reply> {
  return withList(app, request, (source) => previewReply(request, source, previewImport(app.store, source)));
}

/** `POST /import` */
export function run({ app, request }: Context): Promise<Reply> {
  return withList(app, request, async (source, { digest, leave_wrong }) => {
    const agreement = { digest: digest || undefined, leavesWrongOut: isTicked(leave_wrong) };
    const done = await app.undo.keep(runImport(app.store, source, agreement));
    if (done.refused !== undefined) return previewReply(request, source, done, done.refused);
    const { counts, newClients } = done.plan;
    const result = { counts, newClients, undo: done.undo };
    if (isNavigation(request)) {
      const name = app.results.remember({ kind: "imported", result });
      return redirect(`${paths.import}?imported=${name}`);
    }
    return htmlReply(html`${importStart(pageData(app), emptyImport)}${notify(messageOf(app, result))}`);
  });
}

function messageOf(app: App, result: ImportDone): Message {
  return withDetails(app, importMessage(result), result);
}

/** Reads a list from a form and passes it to `answer`. If it cannot be read, shows the form with the reason. */
async function withList(
  app: App,
  request: IncomingMessage,
  answer: (source: ImportSource, fields: FormInput) => Reply | Promise<Reply>,
): Promise<Reply> {
  // Undefined if a preview has replaced the form: then there is no form that can show the reason.
  let form: ImportForm | undefined = emptyImport;
  try {
    const parts = await readMultipart(request, { limitBytes: importLimitBytes, tooLarge });
    const fields: FormInput = Object.fromEntries(parts.fields);
    const [[, file] = []] = parts.files;
    const options = { client: fields.client ?? "", takesAll: isTicked(fields.all) };
    form = fields.state ? undefined : { ...options, text: fields.text ?? "" };
    return await answer({ ...options, list: listIn(fields, file) }, fields);
  } catch (error) {
    const isAboutList =
      error instanceof UserError && (error.code === "invalid" || error.code === "too-large");
    if (!isAboutList || form === undefined) throw error;
    return problemReply(app, request, form, error);
  }
}

/** The bytes of a list. A preview sends them as base64 in `state`, because form encoding would change line breaks. */
function listIn({ state = "", text = "" }: FormInput, file: Buffer | undefined): Buffer {
  const isFile = state === "" && file !== undefined && file.length > 0;
  const list = isFile ? file : Buffer.from(state || text, state === "" ? "utf8" : "base64");
  if (list.length > listLimitBytes) throw tooLarge();
  if (isFile) requireText(list);
  return list;
}

const zipStart = Buffer.from("PK\x03\x04", "latin1");
const zipMessage = "This is a ZIP, not a list. Save Excel files as CSV. Upload drivers under Drivers.";

/** @throws UserError "invalid" for a ZIP or any other binary file */
function requireText(file: Buffer): void {
  if (file.subarray(0, zipStart.length).equals(zipStart))
    throw new UserError("invalid", zipMessage, {}, { remedies: [{ kind: "upload" }] });
  // Decodes before the check, because in UTF-16 every second byte of ordinary text is zero.
  if (!decodeText(file.subarray(0, 1024)).includes("\0")) return;
  const message = "Platen cannot read this file. Choose a CSV, or paste the command’s output.";
  throw new UserError("invalid", message);
}

function tooLarge(): UserError {
  const megabytes = listLimitBytes / 1024 / 1024;
  return new UserError("too-large", `This list is larger than ${megabytes} MB. Split it.`);
}

/** Sends only the reason to htmx, so the form keeps its values. */
function problemReply(app: App, request: IncomingMessage, form: ImportForm, error: UserError): Reply {
  const status = statusOf(error);
  if (request.headers["hx-request"] !== undefined) {
    const headers = { "HX-Retarget": "#import-problem", "HX-Reswap": "innerHTML" };
    return { ...htmlReply(importProblem(error), status), headers };
  }
  if (!isNavigation(request)) throw error;
  const text = form.text.length > maxTextSentBack ? "" : form.text;
  const visible = importStart(pageData(app), { ...form, text, problem: error });
  return htmlReply(importPage(pageContextOf(request), visible), status);
}

const statuses = { stale: 409, wrong: 422 } as const;

function previewReply(
  request: IncomingMessage,
  { list, client, takesAll }: ImportSource,
  { plan, digest }: ImportPreview,
  refusal?: ImportRefusal,
): Reply {
  const body = importPreview(plan, { state: list.toString("base64"), digest, client, takesAll }, refusal);
  const status = refusal === undefined ? 200 : statuses[refusal];
  return htmlReply(isNavigation(request) ? importPage(pageContextOf(request), body) : body, status);
}

function pageData({ store }: App): ImportPageData {
  return { clients: store.clients.names(), command: printServerCommand, limitBytes: listLimitBytes };
}
