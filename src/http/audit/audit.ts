import { parseAuditFilter, unusableFilters } from "../../domain/audit/audit-filter.ts";
import { auditPage } from "../../html/audit/audit.ts";
import { type AuditCursor, auditCsv, searchAudit } from "../../services/audit/audit-search.ts";
import { htmlReply, type Reply } from "../answers/reply.ts";
import { audited } from "../audited-downloads.ts";
import { pageContextOf } from "../page-context.ts";
import type { Context } from "../router.ts";

/** `GET /audit`, with a filter; `before=2026-11.4711` shows older entries */
export async function show({ app, request, url }: Context): Promise<Reply> {
  const { audit } = app.store;
  const query = Object.fromEntries(url.searchParams);
  const [filter, unusable] = [parseAuditFilter(query), unusableFilters(query)];
  const cursor = cursorIn(url.searchParams.get("before") ?? "");
  await audit.flush();
  const found = await searchAudit(audit.folder, filter, cursor);
  const next = found.next && `${found.next.file.slice(0, 7)}.${found.next.before}`;
  return htmlReply(
    auditPage(pageContextOf(request), { ...found, filter, unusable, next, isFirst: cursor === undefined }),
  );
}

/** `GET /audit.csv`, with the same filter: all matching entries, newest first */
export async function csv(context: Context): Promise<Reply> {
  const { app, url } = context;
  const { audit } = app.store;
  const filter = parseAuditFilter(Object.fromEntries(url.searchParams));
  await audit.flush();
  const type = "text/csv; charset=utf-8; header=present";
  const chunks = () => auditCsv(audit.folder, filter);
  return audited(context, { what: "audit.csv" }, { kind: "stream", type, fileName: "audit.csv", chunks });
}

function cursorIn(text: string): AuditCursor | undefined {
  const [, month, before] = /^(\d{4}-\d{2})\.(\d{1,15})$/.exec(text) ?? [];
  return month === undefined ? undefined : { file: `${month}.jsonl`, before: Number(before) };
}
