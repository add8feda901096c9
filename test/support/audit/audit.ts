import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditEntry, AuditEvent } from "../../../src/domain/audit/audit.ts";
import { readLine } from "../../../src/domain/audit/audit-chain.ts";
import type { TestApp } from "../app.ts";

/** The paths of the log's files, oldest first. */
export function logFiles(dataDir: string): string[] {
  const folder = join(dataDir, "audit");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(folder, name));
}

/** All entries of the log on disk. @throws Error when a line cannot be read */
export function entriesIn(dataDir: string): AuditEntry[] {
  return logFiles(dataDir).flatMap((path) => {
    const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
    return lines.map((line) => {
      const read = readLine(line);
      if (read === undefined) throw new Error(`this is no line of the log: ${line}`);
      return read.entry;
    });
  });
}

/** The entries of a service, including unwritten ones; only `events` when given. */
export async function logEntries(app: TestApp, ...events: AuditEvent[]): Promise<AuditEntry[]> {
  await app.app.store.audit.flush();
  const entries = entriesIn(app.dataDir);
  return events.length === 0 ? entries : entries.filter(({ event }) => events.includes(event));
}

/** `changed printer 1 Office: address 10.0.0.9 → 10.0.0.10` */
export function entryText({ event, record, fields = [], what, count }: AuditEntry): string {
  const changes = fields.map(({ name, from, to }) =>
    to === undefined ? name : from === undefined ? `${name} ${to}` : `${name} ${from} → ${to}`,
  );
  const of = record && `${record.kind} ${record.id} ${record.name}`;
  const times = count === undefined ? undefined : `${count} times`;
  const head = [event, of, what, times].filter((text) => text !== undefined).join(" ");
  return changes.length === 0 ? head : `${head}: ${changes.join("; ")}`;
}
