import type { ImportPlan, PlannedRow } from "../../../src/domain/import/import-plan.ts";
import type { PrinterSettings } from "../../../src/domain/printers/printer.ts";
import { previewImport } from "../../../src/services/import/import.ts";
import type { TestApp } from "../app.ts";

/** What a preview says of a list. */
export async function planOf(
  { app }: Pick<TestApp, "app">,
  text: string,
  options: { readonly client?: string; readonly takesAll?: boolean } = {},
): Promise<ImportPlan> {
  const { client = "", takesAll = false } = options;
  return previewImport(app.store, { list: Buffer.from(text), client, takesAll }).plan;
}

/** What is written of a row, without its client and driver. */
export function settingsOf({ write }: PlannedRow): Partial<PrinterSettings> {
  return write?.settings ?? {};
}

/** Marks with the names of the rows that have them. */
export function marked({ rows }: ImportPlan): string[] {
  return rows.map(({ mark, name }) => `${mark}: ${name}`);
}

/** What the second step of a preview's page sends. */
export function agreementIn(page: string): Record<string, string> {
  const names = ["state", "digest", "client"];
  const found = names.map((name) => [name, RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? ""]);
  return Object.fromEntries(found);
}

/** What work that is done in steps comes to. */
export function stepped<T>(work: Iterator<undefined, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
