import { driverTitle } from "../domain/driver.ts";
import { paths } from "../html/paths.ts";
import { type ScriptPageData, scriptPage } from "../html/script.ts";
import { htmlReply, type Reply } from "./answers/reply.ts";
import { driverScript } from "./driver-packages.ts";
import { frameOf } from "./frame.ts";
import { printerScript, scriptOfClient } from "./packages.ts";
import type { Context, RequestContext } from "./router.ts";

/** `GET /printers/{id}/read/{kind}`: a script's text on a page */
export async function ofPrinter(context: Context<"id" | "kind">): Promise<Reply> {
  const { app, id, params, url } = context;
  const script = await printerScript(context);
  const { name } = app.store.printers.get(id).printer;
  return pageReply(context, script, {
    kind: params.kind,
    downloadPath: paths.script(id, params.kind) + queryOf(url),
    owner: { name, path: paths.printer(id) },
    place: "Printers",
  });
}

/** `GET /clients/{id}/read/{kind}` */
export async function ofClient(context: Context<"id" | "kind">): Promise<Reply> {
  const { app, id, params, url } = context;
  const script = await scriptOfClient(context);
  const { name } = app.store.clients.get(id);
  return pageReply(context, script, {
    kind: params.kind,
    downloadPath: paths.clientScript(id, params.kind) + queryOf(url),
    owner: { name, path: paths.client(id) },
    place: "Clients",
  });
}

/** `GET /drivers/{id}/read/{kind}` */
export async function ofDriver(context: Context<"id" | "kind">): Promise<Reply> {
  const { app, id, params } = context;
  const script = await driverScript(context);
  return pageReply(context, script, {
    kind: params.kind,
    downloadPath: paths.driverScript(id, params.kind),
    owner: { name: driverTitle(app.store.drivers.get(id)), path: paths.driver(id) },
    place: "Drivers",
  });
}

interface Script {
  readonly fileName: string;
  readonly bytes: Uint8Array;
}

function pageReply(
  { request }: RequestContext,
  { fileName, bytes }: Script,
  whose: Pick<ScriptPageData, "kind" | "downloadPath" | "owner" | "place">,
): Reply {
  const text = Buffer.from(bytes).toString("utf8");
  return htmlReply(scriptPage(frameOf(request), { fileName, text, size: bytes.length, ...whose }));
}

/** What else was asked for at an address, for the download of the same. */
function queryOf({ searchParams }: URL): string {
  const asked = [...searchParams].filter(([name]) => name === "all" || name === "driver");
  return asked.length === 0 ? "" : `?${new URLSearchParams(asked)}`;
}
