import { resolve } from "node:path";
import { auditCsvHead, auditCsvLine } from "../domain/audit-csv.ts";
import { messageOf } from "../domain/errors.ts";
import { readEntries } from "../store/audit/files.ts";
import { type AuditReport, verifyAudit } from "../store/audit/verify.ts";

interface AuditCommand {
  /** Unless the arguments name another folder. */
  readonly dataDir: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

const usage = "usage: platen audit verify [DATA_DIR]\n       platen audit export --csv [DATA_DIR]\n";

/** `platen audit …`. @returns the exit code: 0, or 1 where the log is not what it was, or cannot be read */
export async function auditCommand(args: readonly string[], command: AuditCommand): Promise<number> {
  const [verb, ...rest] = args;
  const isExport = verb === "export" && rest[0] === "--csv";
  const folders = isExport ? rest.slice(1) : rest;
  const [folder = command.dataDir] = folders;
  if ((verb !== "verify" && !isExport) || folders.length > 1 || folder.startsWith("-")) {
    command.err(usage);
    return 2;
  }
  const dataDir = resolve(folder);
  try {
    return await (isExport ? exportCsv(dataDir, command) : verify(dataDir, command));
  } catch (error) {
    command.err(`platen: ${dataDir}: ${messageOf(error)}\n`);
    return 1;
  }
}

async function verify(dataDir: string, { out, err }: AuditCommand): Promise<number> {
  const report = await verifyAudit(dataDir);
  const { broken, count, last } = report;
  if (broken === undefined) {
    out(`${soundLine(report)}\n`);
    return 0;
  }
  const { file, line, kind, what } = broken;
  err(`platen: audit/${file}, ${line === 0 ? "its end" : `line ${line}`}: ${kind}: ${what}.\n`);
  err(`${count} entries before it hold together, up to number ${last.seq}.\n`);
  return 1;
}

/** The last hash, kept elsewhere, proves later that nothing before it was made anew. */
function soundLine({ count, last, isTorn }: AuditReport): string {
  if (count === 0) return "The audit log has no entries yet.";
  const torn = isTorn ? " Its last line is not whole: it is being written, or was cut by a power cut." : "";
  return `${count} entries hold together. The last one is number ${last.seq}, ${last.hash}.${torn}`;
}

async function exportCsv(dataDir: string, { out }: AuditCommand): Promise<number> {
  out(auditCsvHead);
  for await (const entry of readEntries(dataDir)) out(auditCsvLine(entry));
  return 0;
}
