import type { LinkOwner } from "../../domain/access/link.ts";
import { scriptPage } from "../../html/deploy/script.ts";
import { pathsOf } from "../../html/paths.ts";
import { scriptForTool, scriptInstaller } from "../../pkg/scripts/tool-scripts.ts";
import { htmlReply, type Reply } from "../answers/reply.ts";
import { pageContextOf } from "../page-context.ts";
import type { Context } from "../router.ts";
import { owners, recordOf } from "./owners.ts";
import { clientScript, driverScript, type NamedScript, printerScript } from "./packages.ts";
import { clientPublish, driverPublish, printerPublish } from "./publish.ts";

type MakeScript = (context: Context<"id" | "kind">) => Promise<NamedScript>;

/** `GET /printers/{id}/read/{kind}`, and likewise for clients and drivers: a page with a script's text */
export const ofPrinter = readPage("printer", printerScript, printerPublish);
export const ofClient = readPage("client", clientScript, clientPublish);
export const ofDriver = readPage("driver", driverScript, driverPublish);

/** @param publish makes the script of the kind `publish`; `make` makes all others */
function readPage(kind: LinkOwner["kind"], make: MakeScript, publish: MakeScript) {
  return async (context: Context<"id" | "kind">): Promise<Reply> => {
    const { app, request, id, params, url } = context;
    const isPublish = params.kind === "publish";
    const { fileName, bytes } = isPublish ? await publish(context) : await make(context);
    const { section } = owners[kind];
    const record = recordOf(app.store, { kind, id });
    const own = pathsOf({ kind, id });
    const downloadPath = isPublish ? own.publish : own.script(params.kind) + keptQuery(url);
    const text = Buffer.from(bytes).toString("utf8");
    // The script may contain links, so showing it is logged like making a link.
    if (text.includes("?link="))
      app.store.audit.record("link-made", { record, what: `in ${downloadPath}, on its page` });
    const owner = { name: record.name, path: own.page };
    const isShort = url.searchParams.get("for") === scriptInstaller.id;
    const short = () => ({
      path: keptQuery(url, scriptInstaller.id),
      size: scriptForTool(scriptInstaller, bytes).length,
    });
    const withoutComments = isShort || params.kind !== "install" ? undefined : short();
    const size = bytes.length;
    return htmlReply(
      scriptPage(pageContextOf(request), {
        kind: params.kind,
        downloadPath,
        section,
        owner,
        fileName,
        text,
        size,
        withoutComments,
        signed: await app.signing.sentenceOn(Buffer.from(bytes)),
      }),
    );
  };
}

/** The page's query parameters that its download also needs. @param tool replaces that of the page */
function keptQuery({ searchParams }: URL, tool?: string): string {
  const kept = new URLSearchParams(
    [...searchParams].filter(([name]) => ["all", "driver", "for"].includes(name)),
  );
  if (tool !== undefined) kept.set("for", tool);
  return kept.size === 0 ? "" : `?${kept}`;
}
