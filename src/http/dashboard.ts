import type { App } from "../app.ts";
import { hasRole } from "../domain/access.ts";
import { attentionOf } from "../domain/attention.ts";
import { dashboardPage } from "../html/dashboard.ts";
import type { Html } from "../html/html.ts";
import type { Frame } from "../html/layout.ts";
import { endedMessage } from "../html/undo.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import { htmlReply, type Reply } from "./answers/reply.ts";
import { frameOf } from "./frame.ts";
import type { Context } from "./router.ts";

const recentCount = 5;

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
  const newest = [...printers].sort((a, b) => b.printer.id - a.printer.id);
  const data = {
    attention: attentionOf(printers, drivers),
    hasFailedBackup: hasRole(frame.visitor.role, "admin") && app.backups.failure() !== undefined,
    deletions: app.undo.list(),
    before,
    recentPrinters: newest.slice(0, recentCount),
    recentPackages: newest.filter(({ driver }) => driver !== undefined).slice(0, recentCount),
    formats: packageFormats,
    counts: { clients: app.store.clients.count(), drivers: drivers.length, printers: printers.length },
  };
  return dashboardPage(frame, data);
}
