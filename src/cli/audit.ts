import { basename, resolve } from "node:path";
import { auditCsvHead, auditCsvLine } from "../domain/audit/audit.ts";
import { errorMessage } from "../domain/errors.ts";
import { findLog, readEntries } from "../store/audit/files.ts";
import { type AuditReport, verifyAudit } from "../store/audit/verify.ts";

interface AuditCommand {
  /** Used unless the arguments name another folder. */
  readonly dataDir: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

const usage =
  "usage: platen audit verify [DIR]\n       platen audit export --csv [DIR]     DIR: another data folder, or one that has the log’s files itself\n";

/** `platen audit …`. @returns the exit code: 0; 1 if the log was changed or cannot be read; 2 for wrong arguments */
export async function auditCommand(args: readonly string[], command: AuditCommand): Promise<number> {
  const [verb, ...rest] = args;
  const isExport = verb === "export" && rest[0] === "--csv";
  const folders = isExport ? rest.slice(1) : rest;
  const [folder = command.dataDir] = folders;
  if ((verb !== "verify" && !isExport) || folders.length > 1 || folder.startsWith("-")) {
    command.err(usage);
    return 2;
  }
  const dir = resolve(folder);
  try {
    const log = await findLog(dir);
    if (log === undefined) {
      command.err(`platen: no audit log at ${dir}\n`);
      return 1;
    }
    return await (isExport ? exportCsv(log, command) : verify(log, command));
  } catch (error) {
    command.err(`platen: ${dir}: ${errorMessage(error)}\n`);
    return 1;
  }
}

type AuditLogFiles = NonNullable<Awaited<ReturnType<typeof findLog>>>;

async function verify({ dataDir, folder }: AuditLogFiles, { out, err }: AuditCommand): Promise<number> {
  const report = await verifyAudit(dataDir, folder);
  const { broken, count, last } = report;
  if (broken === undefined) {
    out(`${intactLine(report)}\n`);
    return 0;
  }
  const { file, line, kind, what } = broken;
  err(`platen: ${basename(folder)}/${file}, ${line === 0 ? "its end" : `line ${line}`}: ${kind}: ${what}.\n`);
  err(`${count} entries before it are intact, up to number ${last.seq}.\n`);
  return 1;
}

/** Includes the last hash. A copy of it kept elsewhere can later prove that no earlier entry was rewritten. */
function intactLine({ count, last, isTorn, isEndKnown }: AuditReport): string {
  if (count === 0) return "The audit log has no entries yet.";
  const tornNote = isTorn
    ? " Its last line is incomplete: it is being written, or a power cut interrupted it."
    : "";
  const endNote = isEndKnown
    ? ""
    : " Without the database (platen.sqlite beside the log’s folder), missing entries at the end cannot be detected.";
  return `${count} entries are intact. The last one is number ${last.seq}, ${last.hash}.${tornNote}${endNote}`;
}

async function exportCsv({ folder }: AuditLogFiles, { out }: AuditCommand): Promise<number> {
  out(auditCsvHead);
  for await (const entry of readEntries(folder)) out(auditCsvLine(entry));
  return 0;
}
