import type { ScenarioGroup } from "./scenario.ts";

export const documentPath = "docs/scenarios.md";

const begin = "<!-- The test of this document writes everything below: npm run scenarios -->\n";
const columns = ["before", "script", "result", "changes"];

/** A table row. @param cells Markdown */
export const formatRow = (cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll(/\s+/g, " ")).join(" | ")} |`;

/** Replaces the tables of the document and keeps its introduction. */
export function withTables(
  document: string,
  groups: readonly ScenarioGroup[],
  rows: ReadonlyMap<ScenarioGroup, readonly string[]>,
): string {
  const at = document.indexOf(begin);
  if (at < 0) throw new Error(`${documentPath} has no line ${begin}`);
  const tables = groups.map((group) => {
    const lines = [formatRow(columns), formatRow(columns.map(() => "---")), ...(rows.get(group) ?? [])];
    return `\n## ${group.title}\n\n${group.about}\n\n${lines.join("\n")}\n`;
  });
  return document.slice(0, at + begin.length) + tables.join("");
}

/** The document's rows by the title of their group, without the blanks that the formatter adds to cells. */
export function documentedRows(document: string): Map<string, string[]> {
  const sections = document.slice(document.indexOf(begin)).split("\n## ").slice(1);
  return new Map(
    sections.map((section) => {
      const [title = "", ...lines] = section.split("\n");
      return [
        title,
        lines
          .filter((line) => line.startsWith("| "))
          .slice(2)
          .map((line) => line.replaceAll(/\s+/g, " ")),
      ];
    }),
  );
}
