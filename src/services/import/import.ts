import { createHash } from "node:crypto";
import { decodeText } from "../../domain/decode.ts";
import { chosenInf } from "../../domain/drivers/driver.ts";
import { UserError } from "../../domain/errors.ts";
import { KnownDrivers } from "../../domain/import/import-drivers.ts";
import type { ImportOptions, ImportPlan } from "../../domain/import/import-plan.ts";
import { planImport } from "../../domain/import/import-planner.ts";
import type { ImportedList } from "../../domain/import/import-row.ts";
import { readPrintServer } from "../../domain/import/print-server.ts";
import { csvHead, csvLine, readPrinterCsv } from "../../domain/import/printer-csv.ts";
import type { Store } from "../../store/store.ts";
import { checkedChange } from "../checked-change.ts";

/** A list of printers as it was sent, and what was asked for besides. */
export interface ImportSource extends ImportOptions {
  readonly list: Buffer;
}

/** A plan, and what names its outcome: another plan of the same outcome has the same digest. */
export interface ImportPreview {
  readonly plan: ImportPlan;
  readonly digest: string;
}

/** What somebody agreed to. */
interface Agreement {
  /** Of the preview that was shown; undefined where none was. */
  readonly digest: string | undefined;
  readonly leavesWrongOut: boolean;
}

/** What became of an import; of one that was refused, nothing. */
type ImportResult = ImportPreview & { readonly refused: "stale" | "wrong" | undefined };

/** Says what an import would do. @throws UserError "invalid" where the list cannot be read */
export function previewImport(store: Store, source: ImportSource): ImportPreview {
  const list = listOf(source);
  const drivers = new KnownDrivers(store.drivers.summaries(), ({ id }) => {
    return chosenInf(store.drivers.get(id))?.descriptions ?? [];
  });
  const known = { printers: store.printers.whole(), clients: store.clients.names(), drivers };
  const plan = planImport(list, known, source);
  return { plan, digest: digestOf(plan) };
}

/** Does all of it or nothing, in one write. @throws UserError "invalid" where the list cannot be read */
export function runImport(store: Store, source: ImportSource, agreement: Agreement): Promise<ImportResult> {
  return checkedChange<ImportResult>(store, (stopWith) => {
    const preview = previewImport(store, source);
    const result = { ...preview, refused: refusalOf(preview, agreement) };
    const writes = preview.plan.rows.flatMap(({ write }) => write ?? []);
    if (result.refused !== undefined || writes.length === 0) stopWith(result);
    store.manyPrinters.importAll(writes);
    return result;
  });
}

function listOf({ list, client }: ImportSource): ImportedList {
  const text = decodeText(list);
  const [first] = text.trimStart();
  if (first === undefined) throw new UserError("invalid", "Choose a file, or paste the list.");
  return first === "{" || first === "[" ? readPrintServer(text, client) : readPrinterCsv(text);
}

function refusalOf({ plan, digest }: ImportPreview, agreement: Agreement): ImportResult["refused"] {
  if (agreement.digest !== undefined && agreement.digest !== digest) return "stale";
  return plan.counts.wrong > 0 && !agreement.leavesWrongOut ? "wrong" : undefined;
}

/** Of all that is written, and of what it was before. */
function digestOf({ rows }: ImportPlan): string {
  const hash = createHash("sha256");
  for (const { mark, write, changes } of rows)
    if (write !== undefined) hash.update(`${JSON.stringify([mark, write, changes])}\n`);
  return hash.digest("hex");
}

/** All printers as a file. @param separator of cells: Excel takes the semicolon where a comma is the decimal sign */
export function exportPrinters({ printers, clients, drivers }: Store, separator: "," | ";"): Buffer {
  const names = new Map(clients.names().map(({ id, name }) => [id, name]));
  const summaries = new Map(drivers.summaries().map((driver) => [driver.id, driver]));
  const lines = printers.whole().map((printer) => {
    const client = names.get(printer.client_id ?? 0) ?? "";
    const driver = summaries.get(printer.driver_id ?? 0);
    const arm64Driver = summaries.get(printer.arm64_driver_id ?? 0);
    return csvLine(printer, client, { driver, arm64Driver }, separator);
  });
  return Buffer.from(csvHead(separator) + lines.join(""));
}
