import type { App } from "../app.ts";
import { hasRole } from "../domain/access/access.ts";
import { endedMessage } from "../html/backup/undo.ts";
import { dashboardPage } from "../html/dashboard.ts";
import type { Html } from "../html/html.ts";
import type { PageContext } from "../html/layout.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import { ownersToUpload } from "../services/printers/printer-files.ts";
import { htmlReply, jsonReply, type Reply } from "./answers/reply.ts";
import { pageContextOf } from "./page-context.ts";
import type { Context } from "./router.ts";

/** `GET /` */
export async function show({ app, request, url }: Context): Promise<Reply> {
  const ended = app.results.find("ended", url.searchParams.get("ended"));
  const message = ended && endedMessage(ended.name);
  const before = Number(url.searchParams.get("before")) || undefined;
  return htmlReply(await dashboardOf(app, pageContextOf(request, message), before));
}

/** @param before lists only deletions with a lower id */
export async function dashboardOf(app: App, pageContext: PageContext, before?: number): Promise<Html> {
  const { printers, drivers } = await app.overview.read();
  const hasFailedBackup = hasRole(pageContext.visitor.role, "admin") && app.backups.failure() !== undefined;
  const clientCount = app.store.clients.count();
  const deletions = app.undo.list();
  const formats = packageFormats;
  const signed = await app.signing.countAll();
  const data = { printers, drivers, clientCount, hasFailedBackup, deletions, before, formats, signed };
  return dashboardPage(pageContext, { ...data, toUpload: ownersToUpload(app.store) });
}

/** `GET /health` */
export function health(): Reply {
  return jsonReply({ status: "ok" });
}
