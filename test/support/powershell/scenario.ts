import assert from "node:assert/strict";
import type { Deployed } from "../audit/deployed.ts";
import type { RunResult, Simulation } from "./powershell.ts";
import { describeChanges } from "./scenario-changes.ts";
import { play, type Ran, runOf, type Step, singleRuns } from "./steps.ts";

/**
 * One row of docs/scenarios.md: the machine and the printer before the run, in words; the required exit code, whatever the
 * document says; and the steps, of which the last is the run.
 */
export type Scenario = readonly [before: string, code: number, ...steps: Step[]];

export interface ScenarioGroup {
  readonly title: string;
  /** What all scenarios of the group have in common, as Markdown. */
  readonly about: string;
  readonly what: Deployed;
  readonly scenarios: readonly Scenario[];
}

/** The cells of a row that are known before the run, as Markdown. */
export function knownCells([before, , ...steps]: Scenario, group: ScenarioGroup): string[] {
  const run = runOf([...singleRuns(steps)].at(-1), group.what);
  assert.ok(run, `${before}: the last step is a run`);
  const [kind, ...switches] = run.line.split(" ");
  const line = [`${kind}.ps1`, ...switches].join(" ");
  const owner = "models" in run.what ? "the driver’s " : "";
  const variant = "omitsDriver" in run.what && run.what.omitsDriver ? " of `?driver=apart`" : "";
  return [before, `${owner}\`${line}\`${variant}`];
}

/** Runs a scenario on its own machine; all runs before the last must succeed. @returns all cells of its row */
export async function runScenario(
  windows: Simulation,
  scenario: Scenario,
  group: ScenarioGroup,
): Promise<readonly string[]> {
  const [, code, ...steps] = scenario;
  let last: Ran | undefined;
  for await (const ran of play(windows, steps, group.what)) {
    assert.equal(last?.result.code ?? 0, 0, last?.result.output.join("\n"));
    last = ran;
  }
  assert.ok(last);
  assert.equal(last.result.code, code, last.result.output.join("\n"));
  assert.equal(last.result.left, 0, "something is left in the temporary folder");
  const changes = describeChanges(last.before, last.result);
  return [...knownCells(scenario, group), `${code}: ${lastResult(last.result)}`, changes];
}

/** The last line of output; JSON is summarised. */
function lastResult({ output }: RunResult): string {
  const last = output.at(-1);
  if (last === undefined) return "no output";
  if (!last.startsWith("{")) return `\`${last}\``;
  const { exitCode, findings } = JSON.parse(last);
  const { level, check, text } = findings.at(-1);
  return `JSON with \`exitCode\` ${exitCode}; the last of ${findings.length} \`findings\`: \`${level} ${check}: ${text}\``;
}

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
      const [, , ...rows] = lines.filter((line) => line.startsWith("| "));
      return [title, rows.map((line) => line.replaceAll(/\s+/g, " "))];
    }),
  );
}
