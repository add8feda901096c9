import type { LinkOwner } from "../../domain/access/link.ts";
import { scriptPage } from "../../html/deploy/script.ts";
import { pathsOf } from "../../html/paths.ts";
import { htmlReply, type Reply } from "../answers/reply.ts";
import { frameOf } from "../page-context.ts";
import type { Context } from "../router.ts";
import { owners, recordOf } from "./links.ts";
import { driverScript, type NamedScript, printerScript, scriptOfClient } from "./packages.ts";
import { clientPublish, driverPublish, printerPublish } from "./publish.ts";

type MakeScript = (context: Context<"id" | "kind">) => Promise<NamedScript>;

/** `GET /printers/{id}/read/{kind}`, and the same of a client and of a driver: a script's text on a page */
export const ofPrinter = readPage("printer", printerScript, printerPublish);
export const ofClient = readPage("client", scriptOfClient, clientPublish);
export const ofDriver = readPage("driver", driverScript, driverPublish);

/** @param publish makes the script that puts packages into Intune, which is read where the others are */
function readPage(kind: LinkOwner["kind"], make: MakeScript, publish: MakeScript) {
  return async (context: Context<"id" | "kind">): Promise<Reply> => {
    const { app, request, id, params, url } = context;
    const isPublish = params.kind === "publish";
    const { fileName, bytes } = isPublish ? await publish(context) : await make(context);
    const { place } = owners[kind];
    const record = recordOf(app.store, { kind, id });
    const own = pathsOf({ kind, id });
    const downloadPath = isPublish ? own.publish : own.script(params.kind) + queryOf(url);
    const text = Buffer.from(bytes).toString("utf8");
    // Whoever reads a script that fetches its driver has a link to that, as who downloads it has.
    if (text.includes("?link="))
      app.store.audit.note("link-made", { record, what: `in ${downloadPath}, on its page` });
    const owner = { name: record.name, path: own.page };
    const visible = { kind: params.kind, downloadPath, place, owner, fileName, text, size: bytes.length };
    return htmlReply(scriptPage(frameOf(request), visible));
  };
}

/** What else was asked for at an address, for the download of the same. */
function queryOf({ searchParams }: URL): string {
  const asked = [...searchParams].filter(([name]) => name === "all" || name === "driver");
  return asked.length === 0 ? "" : `?${new URLSearchParams(asked)}`;
}
