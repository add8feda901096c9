import { driverTitle } from "../domain/driver.ts";
import type { LinkOwner } from "../domain/link.ts";
import { pathsOf } from "../html/paths.ts";
import { type ScriptPageData, scriptPage } from "../html/script.ts";
import { htmlReply, type Reply } from "./answers/reply.ts";
import { driverScript } from "./driver-packages.ts";
import { frameOf } from "./frame.ts";
import { printerScript, scriptOfClient } from "./packages.ts";
import { clientPublish, driverPublish, printerPublish } from "./publish.ts";
import type { Context } from "./router.ts";

/** `GET /printers/{id}/read/{kind}`: a script's text on a page */
export async function ofPrinter(context: Context<"id" | "kind">): Promise<Reply> {
  const script = isPublish(context) ? await printerPublish(context) : await printerScript(context);
  const { name } = context.app.store.printers.get(context.id).printer;
  return pageReply(context, script, { kind: "printer", id: context.id, name }, "Printers");
}

/** `GET /clients/{id}/read/{kind}` */
export async function ofClient(context: Context<"id" | "kind">): Promise<Reply> {
  const script = isPublish(context) ? await clientPublish(context) : await scriptOfClient(context);
  const { name } = context.app.store.clients.get(context.id);
  return pageReply(context, script, { kind: "client", id: context.id, name }, "Clients");
}

/** `GET /drivers/{id}/read/{kind}` */
export async function ofDriver(context: Context<"id" | "kind">): Promise<Reply> {
  const script = isPublish(context) ? await driverPublish(context) : await driverScript(context);
  const name = driverTitle(context.app.store.drivers.get(context.id));
  return pageReply(context, script, { kind: "driver", id: context.id, name }, "Drivers");
}

/** Whether it is the script that puts packages into Intune, which is read where the others are. */
function isPublish({ params }: Context<"kind">): boolean {
  return params.kind === "publish";
}

interface Script {
  readonly fileName: string;
  readonly bytes: Uint8Array;
}

/** Whoever reads a script that fetches its driver has a link to that, as who downloads it has. */
function pageReply(
  context: Context<"kind">,
  { fileName, bytes }: Script,
  record: LinkOwner & { readonly name: string },
  place: ScriptPageData["place"],
): Reply {
  const { app, request, params, url } = context;
  const own = pathsOf(record);
  const query = record.kind === "driver" ? "" : queryOf(url);
  const downloadPath = isPublish(context) ? own.publish : own.script(params.kind) + query;
  const text = Buffer.from(bytes).toString("utf8");
  if (text.includes("?link="))
    app.store.audit.note("link-made", { record, what: `in ${downloadPath}, on its page` });
  const owner = { name: record.name, path: own.page };
  const shown = { kind: params.kind, downloadPath, place, owner, fileName, text, size: bytes.length };
  return htmlReply(scriptPage(frameOf(request), shown));
}

/** What else was asked for at an address, for the download of the same. */
function queryOf({ searchParams }: URL): string {
  const asked = [...searchParams].filter(([name]) => name === "all" || name === "driver");
  return asked.length === 0 ? "" : `?${new URLSearchParams(asked)}`;
}
