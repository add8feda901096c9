import type { ImportPlan, PlannedRow } from "../../src/domain/import-plan.ts";
import { printerSettingsFrom } from "../../src/domain/printer-fields.ts";
import type { TestApp } from "./app.ts";

/** What a preview says of a list. */
export async function planOf(
  { app }: Pick<TestApp, "app">,
  text: string,
  options: { readonly client?: string; readonly takesAll?: boolean } = {},
): Promise<ImportPlan> {
  const source = { text, client: options.client ?? "", takesAll: options.takesAll ?? false };
  return (await app.imports.inTurn("", (imports) => imports.preview(source))).plan;
}

/** What is written of a row, without its client and driver. */
export function settingsOf({ write }: PlannedRow): ReturnType<typeof printerSettingsFrom> {
  return printerSettingsFrom(write?.settings ?? "{}");
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
