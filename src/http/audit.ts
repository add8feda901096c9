import { auditCsvHead, auditCsvLine } from "../domain/audit-csv.ts";
import { parseAuditFilter } from "../domain/audit-filter.ts";
import { auditPage } from "../html/audit.ts";
import { type AuditCursor, searchAudit } from "../services/audit-search.ts";
import { bytesDownload, htmlReply, type Reply } from "./answers/reply.ts";
import { audited } from "./downloads.ts";
import { frameOf } from "./frame.ts";
import type { Context } from "./router.ts";

/** `GET /audit`, narrowed; `before=2026-11.4711` goes on with older entries */
export async function show({ app, request, url }: Context): Promise<Reply> {
  const { audit } = app.store;
  const filter = parseAuditFilter(Object.fromEntries(url.searchParams));
  const cursor = cursorIn(url.searchParams.get("before") ?? "");
  await audit.flush();
  const found = await searchAudit(audit.folder, filter, cursor);
  const next = found.next && `${found.next.file.slice(0, 7)}.${found.next.before}`;
  return htmlReply(auditPage(frameOf(request), { ...found, filter, next, isFirst: cursor === undefined }));
}

/** Of one file: more than a spreadsheet shows in reasonable time. */
const csvBounds = { entries: 50_000, bytes: 256 * 1024 * 1024 };

/** `GET /audit.csv`, narrowed likewise: the newest entries first */
export async function csv(context: Context): Promise<Reply> {
  const { app, url } = context;
  const { audit } = app.store;
  const filter = parseAuditFilter(Object.fromEntries(url.searchParams));
  await audit.flush();
  const { entries } = await searchAudit(audit.folder, filter, undefined, csvBounds);
  const parts = [Buffer.from(auditCsvHead)];
  for (let at = 0; at < entries.length; at += linesAtOnce) {
    parts.push(
      Buffer.from(
        entries
          .slice(at, at + linesAtOnce)
          .map(auditCsvLine)
          .join(""),
      ),
    );
    await new Promise(setImmediate);
  }
  const type = "text/csv; charset=utf-8; header=present";
  const reply = bytesDownload(Buffer.concat(parts), { type, fileName: "audit.csv" });
  return audited(context, { what: "audit.csv" }, reply);
}

const linesAtOnce = 500;

function cursorIn(text: string): AuditCursor | undefined {
  const [, month, before] = /^(\d{4}-\d{2})\.(\d{1,15})$/.exec(text) ?? [];
  return month === undefined ? undefined : { file: `${month}.jsonl`, before: Number(before) };
}
