import type { ImportPlan, PlannedRow } from "../../../src/domain/import/import-plan.ts";
import type { PrinterSettings } from "../../../src/domain/printers/printer.ts";
import { previewImport } from "../../../src/services/import/import.ts";
import type { TestApp } from "../app.ts";

/** The plan of a list's preview. */
export async function planOf(
  { app }: Pick<TestApp, "app">,
  text: string,
  options: { readonly client?: string; readonly takesAll?: boolean } = {},
): Promise<ImportPlan> {
  const { client = "", takesAll = false } = options;
  return previewImport(app.store, { list: Buffer.from(text), client, takesAll }).plan;
}

/** The settings that the import writes for a row. */
export function settingsOf({ write }: PlannedRow): Partial<PrinterSettings> {
  return write?.settings ?? {};
}

/** Marks with the names of the rows that have them. */
export function rowStatuses({ rows }: ImportPlan): string[] {
  return rows.map(({ status: mark, name }) => `${mark}: ${name}`);
}

/** The hidden fields that a preview's page sends with the import. */
export function previewFieldsIn(page: string): Record<string, string> {
  const names = ["state", "digest", "client"];
  const found = names.map((name) => [name, RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? ""]);
  return Object.fromEntries(found);
}
