import type { AuditedRecord } from "../domain/audit.ts";
import { driverTitle } from "../domain/driver.ts";
import { paths } from "../html/paths.ts";
import { type ScriptPageData, scriptPage } from "../html/script.ts";
import { htmlReply, type Reply } from "./answers/reply.ts";
import { driverScript } from "./driver-packages.ts";
import { frameOf } from "./frame.ts";
import { printerScript, scriptOfClient } from "./packages.ts";
import { clientPublish, driverPublish, printerPublish } from "./publish.ts";
import type { Context, RequestContext } from "./router.ts";

/** The script that puts packages into Intune, which is read where the others are. */
const publishKind = "publish";

/** `GET /printers/{id}/read/{kind}`: a script's text on a page */
export async function ofPrinter(context: Context<"id" | "kind">): Promise<Reply> {
  const { app, id, params, url } = context;
  const isPublish = params.kind === publishKind;
  const script = isPublish ? await printerPublish(context) : await printerScript(context);
  const { name } = app.store.printers.get(id).printer;
  return pageReply(context, script, {
    kind: params.kind,
    downloadPath: isPublish ? paths.publishPrinter(id) : paths.script(id, params.kind) + queryOf(url),
    record: { kind: "printer", id, name },
    path: paths.printer(id),
    place: "Printers",
  });
}

/** `GET /clients/{id}/read/{kind}` */
export async function ofClient(context: Context<"id" | "kind">): Promise<Reply> {
  const { app, id, params, url } = context;
  const isPublish = params.kind === publishKind;
  const script = isPublish ? await clientPublish(context) : await scriptOfClient(context);
  const { name } = app.store.clients.get(id);
  return pageReply(context, script, {
    kind: params.kind,
    downloadPath: isPublish ? paths.publishClient(id) : paths.clientScript(id, params.kind) + queryOf(url),
    record: { kind: "client", id, name },
    path: paths.client(id),
    place: "Clients",
  });
}

/** `GET /drivers/{id}/read/{kind}` */
export async function ofDriver(context: Context<"id" | "kind">): Promise<Reply> {
  const { app, id, params } = context;
  const isPublish = params.kind === publishKind;
  const script = isPublish ? await driverPublish(context) : await driverScript(context);
  const name = driverTitle(app.store.drivers.get(id));
  return pageReply(context, script, {
    kind: params.kind,
    downloadPath: isPublish ? paths.publishDriver(id) : paths.driverScript(id, params.kind),
    record: { kind: "driver", id, name },
    path: paths.driver(id),
    place: "Drivers",
  });
}

interface Script {
  readonly fileName: string;
  readonly bytes: Uint8Array;
}

/** Whose script a page shows. */
interface Shown extends Pick<ScriptPageData, "kind" | "downloadPath" | "place"> {
  readonly record: AuditedRecord;
  /** Of the record's page. */
  readonly path: string;
}

/** Whoever reads a script that fetches its driver has a link to that, as who downloads it has. */
function pageReply(
  { app, request }: RequestContext,
  { fileName, bytes }: Script,
  { record, path, ...page }: Shown,
): Reply {
  const text = Buffer.from(bytes).toString("utf8");
  if (text.includes("?link="))
    app.store.audit.note("link-made", { record, what: `in ${page.downloadPath}, on its page` });
  const owner = { name: record.name, path };
  return htmlReply(scriptPage(frameOf(request), { ...page, owner, fileName, text, size: bytes.length }));
}

/** What else was asked for at an address, for the download of the same. */
function queryOf({ searchParams }: URL): string {
  const asked = [...searchParams].filter(([name]) => name === "all" || name === "driver");
  return asked.length === 0 ? "" : `?${new URLSearchParams(asked)}`;
}
