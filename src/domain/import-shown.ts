import { cleanText } from "./fields.ts";
import type { PlannedRow } from "./import-plan.ts";
import type { ImportRow } from "./import-row.ts";

/** A row that is not taken. */
export function leftOut(row: ImportRow): PlannedRow {
  return {
    ...shownOf(row),
    mark: "left out",
    driver: undefined,
    printerId: undefined,
    changes: [],
    reasons: [row.leftOut ?? ""],
    notes: [],
    write: undefined,
  };
}

/** What a page shows of a row, however it was meant. */
export function shownOf({ number, values, client }: ImportRow) {
  const address = shownText(values.address || values.port_name || "");
  return { number, name: shownText(values.name ?? ""), client: shownText(client ?? ""), address };
}

/** A text from outside, as far as a page shows it. */
export function shownText(text: string): string {
  return cleanText(text.slice(0, 300));
}
