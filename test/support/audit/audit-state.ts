import { existsSync } from "node:fs";
import { join } from "node:path";
import { verifyAudit } from "../../../src/store/audit/verify.ts";
import type { Rows } from "../durability/disk-state.ts";
import { entriesIn } from "./audit.ts";

/** How often each change was acknowledged. */
export class AcknowledgedChanges {
  readonly #counts = new Map<string, number>();

  /** @param change as `created client Contoso` */
  add(change: string): void {
    this.#counts.set(change, (this.#counts.get(change) ?? 0) + 1);
  }

  /** The acknowledged changes that are missing in `counts`. */
  missingIn(counts: ReadonlyMap<string, number>): string[] {
    return [...this.#counts].flatMap(([change, count]) => {
      const found = counts.get(change) ?? 0;
      return found >= count ? [] : [`of ${count} × “${change}” the audit log tells ${found}`];
    });
  }
}

/** Checks that the log is complete and agrees with the saved rows. @param acknowledged changes that it must have */
export async function logProblems(
  dataDir: string,
  rows: Rows,
  acknowledged: AcknowledgedChanges,
): Promise<string[]> {
  const { broken, isTorn } = await verifyAudit(dataDir);
  if (broken !== undefined) return [`the audit log: ${broken.file} ${broken.line}: ${broken.what}`];
  return isTorn ? ["the audit log: its last line is torn"] : missingEntries(dataDir, rows, acknowledged);
}

/**
 * Compares the records that follow from the log's entries with the saved rows, in both directions, and finds acknowledged
 * changes without an entry.
 */
export function missingEntries(dataDir: string, rows: Rows, acknowledged: AcknowledgedChanges): string[] {
  const { existing, counts } = logContent(dataDir, rows);
  const saved = recordsIn(rows);
  return [
    ...[...saved].filter((key) => !existing.has(key)).map((key) => `the audit log lacks ${key}`),
    ...[...existing].filter((key) => !saved.has(key)).map((key) => `the audit log has ${key}, which is not`),
    ...acknowledged.missingIn(counts),
  ];
}

/** The existing records that follow from the log, as `printer 7`, and the count of each change, as `created printer Hall`. */
function logContent(dataDir: string, rows: Rows): { existing: Set<string>; counts: Map<string, number> } {
  // The drivers included with Windows have no entries.
  const existing = new Set(rows.windows_drivers.map(({ id }) => `driver ${id}`));
  const counts = new Map<string, number>();
  for (const { event, record } of changesIn(dataDir)) {
    const { kind, id, name } = record;
    const said = `${event} ${kind} ${name}`;
    counts.set(said, (counts.get(said) ?? 0) + 1);
    if (kind === "icon") continue;
    if (event === "deleted") existing.delete(`${kind} ${id}`);
    else if (event === "created" || event === "restored") existing.add(`${kind} ${id}`);
  }
  return { existing, counts };
}

function changesIn(dataDir: string) {
  if (!existsSync(join(dataDir, "audit"))) return [];
  return entriesIn(dataDir).flatMap(({ event, record, change }) =>
    record === undefined || change === undefined ? [] : [{ event, record }],
  );
}

/** Keys such as `printer 7`. */
function recordsIn({ clients, drivers, windows_drivers, printers, accounts, tokens }: Rows): Set<string> {
  const kinds = {
    client: clients,
    driver: [...drivers, ...windows_drivers],
    printer: printers,
    account: accounts,
    token: tokens,
  };
  return new Set(Object.entries(kinds).flatMap(([kind, rows]) => rows.map(({ id }) => `${kind} ${id}`)));
}
