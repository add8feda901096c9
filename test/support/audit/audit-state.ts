import { existsSync } from "node:fs";
import { join } from "node:path";
import { verifyAudit } from "../../../src/store/audit/verify.ts";
import type { Rows } from "../durability/disk-state.ts";
import { entriesIn } from "./audit.ts";

/** Changes that were acknowledged, as `created client 1 Contoso`, without the number: how often each was. */
export class Told {
  readonly #counts = new Map<string, number>();

  /** @param change as `created client Contoso` */
  add(change: string): void {
    this.#counts.set(change, (this.#counts.get(change) ?? 0) + 1);
  }

  /** What is missing of it among these. */
  missingIn(counts: ReadonlyMap<string, number>): string[] {
    return [...this.#counts].flatMap(([change, count]) => {
      const found = counts.get(change) ?? 0;
      return found >= count ? [] : [`of ${count} × “${change}” the audit log tells ${found}`];
    });
  }
}

/** Whether the log is whole, and ends with what is saved. @param told what it must tell of */
export async function wrongInLog(dataDir: string, rows: Rows, told: Told): Promise<string[]> {
  const { broken, isTorn } = await verifyAudit(dataDir);
  if (broken !== undefined) return [`the audit log: ${broken.file} ${broken.line}: ${broken.what}`];
  return isTorn ? ["the audit log: its last line is torn"] : untold(dataDir, rows, told);
}

/**
 * What follows from the log, one entry after the other, is what is saved: no record that it does not know of, and none
 * that it has and the database has not.
 */
export function untold(dataDir: string, rows: Rows, told: Told): string[] {
  const { there, counts } = toldBy(dataDir, rows);
  const saved = recordsIn(rows);
  return [
    ...[...saved].filter((key) => !there.has(key)).map((key) => `the audit log lacks ${key}`),
    ...[...there].filter((key) => !saved.has(key)).map((key) => `the audit log has ${key}, which is not`),
    ...told.missingIn(counts),
  ];
}

/** What the log says is there by now, as `printer 7`, and how often it tells of each change, as `created printer Hall`. */
function toldBy(dataDir: string, rows: Rows): { there: Set<string>; counts: Map<string, number> } {
  // Windows’ own drivers came with the database.
  const there = new Set(rows.windows_drivers.map(({ id }) => `driver ${id}`));
  const counts = new Map<string, number>();
  for (const { event, record } of changesIn(dataDir)) {
    const { kind, id, name } = record;
    const said = `${event} ${kind} ${name}`;
    counts.set(said, (counts.get(said) ?? 0) + 1);
    if (kind === "icon") continue;
    if (event === "deleted") there.delete(`${kind} ${id}`);
    else if (event === "created" || event === "restored") there.add(`${kind} ${id}`);
  }
  return { there, counts };
}

function changesIn(dataDir: string) {
  if (!existsSync(join(dataDir, "audit"))) return [];
  return entriesIn(dataDir).flatMap(({ event, record, change }) =>
    record === undefined || change === undefined ? [] : [{ event, record }],
  );
}

/** As `printer 7`. */
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
