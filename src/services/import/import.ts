import { createHash } from "node:crypto";
import { decodeText } from "../../domain/decode.ts";
import type { KeptChange } from "../../domain/deletion.ts";
import { UserError } from "../../domain/errors.ts";
import { KnownDrivers } from "../../domain/import/import-drivers.ts";
import type { ImportOptions, ImportPlan } from "../../domain/import/import-plan.ts";
import { planImport } from "../../domain/import/import-planner.ts";
import type { ImportedList } from "../../domain/import/import-row.ts";
import { readPrintServer } from "../../domain/import/print-server.ts";
import { csvHead, csvLine, readPrinterCsv } from "../../domain/import/printer-csv.ts";
import type { Store } from "../../store/store.ts";
import { checkedChange } from "../checked-change.ts";

/** A list of printers as it was sent, with the form's choices. */
export interface ImportSource extends ImportOptions {
  readonly list: Buffer;
}

/** A plan and a digest of its effect: two plans with the same effect have the same digest. */
export interface ImportPreview {
  readonly plan: ImportPlan;
  readonly digest: string;
}

/** The preview and options that the user confirmed. */
interface Agreement {
  /** The digest of the preview; undefined if the import runs without one. */
  readonly digest: string | undefined;
  readonly leavesWrongOut: boolean;
}

/** An import's plan and, if nothing was imported, the reason. */
type ImportResult = ImportPreview & {
  readonly refused: "stale" | "wrong" | undefined;
  readonly undo?: KeptChange;
};

/** Plans an import without changing anything. @throws UserError "invalid" if the list cannot be read */
export function previewImport(store: Store, source: ImportSource): ImportPreview {
  const list = readList(source);
  const drivers = new KnownDrivers(store.drivers.summaries(), ({ id }) => store.drivers.get(id));
  const known = { printers: store.printers.withSettings(), clients: store.clients.names(), drivers };
  const plan = planImport(list, known, source);
  return { plan, digest: digestOf(plan) };
}

/**
 * Imports everything or nothing, in one transaction. The changes of existing printers can be undone.
 * @throws UserError "invalid" if the list cannot be read
 */
export function runImport(store: Store, source: ImportSource, agreement: Agreement): Promise<ImportResult> {
  return checkedChange<ImportResult>(store, (stopWith) => {
    const preview = previewImport(store, source);
    const result = { ...preview, refused: refusalOf(preview, agreement) };
    const writes = preview.plan.rows.flatMap(({ write }) => write ?? []);
    if (result.refused !== undefined || writes.length === 0) stopWith(result);
    const ids = writes.flatMap(({ printerId }) => printerId ?? []);
    const undo = store.manyPrinters.keepEarlier(ids, () => store.manyPrinters.importAll(writes));
    return { ...result, undo };
  });
}

function readList({ list, client }: ImportSource): ImportedList {
  const text = decodeText(list);
  const [first] = text.trimStart();
  if (first === undefined) throw new UserError("invalid", "Choose a file, or paste the list.");
  return first === "{" || first === "[" ? readPrintServer(text, client) : readPrinterCsv(text);
}

function refusalOf({ plan, digest }: ImportPreview, agreement: Agreement): ImportResult["refused"] {
  if (agreement.digest !== undefined && agreement.digest !== digest) return "stale";
  return plan.counts.wrong > 0 && !agreement.leavesWrongOut ? "wrong" : undefined;
}

/** A digest of everything that the import writes, and of the values that it replaces. */
function digestOf({ rows }: ImportPlan): string {
  const hash = createHash("sha256");
  for (const { status, write, changes } of rows)
    if (write !== undefined) hash.update(`${JSON.stringify([status, write, changes])}\n`);
  return hash.digest("hex");
}

/** All printers as CSV. @param separator Excel expects the semicolon where the decimal sign is a comma */
export function exportPrinters({ printers, clients, drivers }: Store, separator: "," | ";"): Buffer {
  const names = new Map(clients.names().map(({ id, name }) => [id, name]));
  const summaries = new Map(drivers.summaries().map((driver) => [driver.id, driver]));
  const lines = printers.withSettings().map((printer) => {
    const client = names.get(printer.client_id ?? 0) ?? "";
    const driver = summaries.get(printer.driver_id ?? 0);
    const arm64Driver = summaries.get(printer.arm64_driver_id ?? 0);
    return csvLine(printer, client, { driver, arm64Driver }, separator);
  });
  return Buffer.from(csvHead(separator) + lines.join(""));
}
