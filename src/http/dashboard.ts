import type { App } from "../app.ts";
import { hasRole } from "../domain/access/access.ts";
import { endedMessage } from "../html/backup/undo.ts";
import { dashboardPage } from "../html/dashboard.ts";
import type { Html } from "../html/html.ts";
import type { Frame } from "../html/layout.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import { htmlReply, type Reply } from "./answers/reply.ts";
import { frameOf } from "./page-context.ts";
import type { Context } from "./router.ts";

/** `GET /` */
export async function show({ app, request, url }: Context): Promise<Reply> {
  const ended = app.outcomes.find("ended", url.searchParams.get("ended"));
  const message = ended && endedMessage(ended.name);
  const before = Number(url.searchParams.get("before"));
  return htmlReply(
    await dashboardOf(
      app,
      frameOf(request, message),
      Number.isSafeInteger(before) ? before || undefined : undefined,
    ),
  );
}

/** The dashboard. @param before the id of the first deletion that is not shown */
export async function dashboardOf(app: App, frame: Frame, before?: number): Promise<Html> {
  const { printers, drivers } = await app.overview.read();
  const hasFailedBackup = hasRole(frame.visitor.role, "admin") && app.backups.failure() !== undefined;
  const clientCount = app.store.clients.count();
  const deletions = app.undo.list();
  const data = { printers, drivers, clientCount, hasFailedBackup, deletions, before };
  return dashboardPage(frame, { ...data, formats: packageFormats });
}
