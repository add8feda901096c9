import type { Queries } from "../database/rows.ts";
import { itself } from "./actor.ts";
import type { ChangeRecorder } from "./change-recorder.ts";
import { Changes, noPlace } from "./changes.ts";
import { AuditExpiry, startOf } from "./expiry.ts";
import { auditFolder } from "./files.ts";
import { AuditLog } from "./log.ts";
import { resumeLog } from "./start.ts";
import { AuditWriter } from "./writer.ts";

interface AuditOptions {
  readonly clock: () => number;
  readonly log: (line: string) => void;
  /** So many days entries are kept. */
  readonly days: number;
}

interface OpenedAudit {
  readonly audit: AuditLog;
  /** Whether the log has changes that the database never had: a state of it from before was put in its place. */
  readonly isAhead: boolean;
}

/** Opens the audit log, and appends to it what the database was faster with when the service before this one ended. */
export async function openAudit(
  dataDir: string,
  db: Queries,
  recorder: ChangeRecorder,
  { clock, log, days }: AuditOptions,
): Promise<OpenedAudit> {
  const folder = auditFolder(dataDir);
  const changes = new Changes(db);
  const { head, changes: written, found } = await resumeLog(folder, changes.place("head") ?? noPlace, clock);
  const writer = new AuditWriter(folder, clock, head);
  const expiry = new AuditExpiry(folder, days, changes.place("start") ?? (await startOf(folder)));
  await expiry.look(clock());
  const known = new Set(written);
  const audit = new AuditLog({ folder, writer, expiry }, recorder.savedOf(changes), known, { clock, log });
  let last = changes.last();
  for (const number of written) last = Math.max(last, number);
  recorder.begin(audit, last);
  if (found !== undefined) {
    log(`warning: the audit log: ${found.what}`);
    audit.note(found.event, { what: found.what, actor: itself });
  }
  audit.wake();
  // A change is saved before it is logged, and its number stays in the database until that knows its line.
  const isAhead = known.size < written.length || written.some((number) => !changes.has(number));
  return { audit, isAhead };
}
