import assert from "node:assert/strict";
import type { ScriptKind } from "../../../src/pkg/scripts/render.ts";
import type { Deployed } from "../audit/deployed.ts";
import type { Machine, RunResult, Simulation } from "./powershell.ts";
import { describeChanges } from "./scenario-changes.ts";

/** One row of docs/scenarios.md. */
export interface Scenario {
  /** The machine and the printer before the run, in words. */
  readonly before: string;
  readonly run: ScriptKind;
  /** The required exit code, whatever the document says; 0 by default. */
  readonly code?: number;
  readonly machine?: Machine;
  /** Scripts that were run successfully before. */
  readonly ranBefore?: readonly (ScriptKind | readonly [ScriptKind, Deployed])[];
  /** Changes of the machine after those runs. */
  readonly changesSince?: Readonly<Record<string, unknown>>;
  /** The deployment, if it differs from that of the group. */
  readonly what?: Deployed;
  readonly parameters?: Readonly<Record<string, true>>;
  /** Further files of the package, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface ScenarioGroup {
  readonly title: string;
  /** What all scenarios of the group have in common, as Markdown. */
  readonly about: string;
  readonly what: Deployed;
  readonly scenarios: readonly Scenario[];
}

/** The cells of a row that are known before the run, as Markdown. */
export function knownCells(scenario: Scenario, group: ScenarioGroup): string[] {
  const { run, parameters = {}, what = group.what } = scenario;
  const line = [`${run}.ps1`, ...Object.keys(parameters).map((name) => `-${name}`)].join(" ");
  const owner = "models" in what ? "the driver’s " : "";
  const variant = "omitsDriver" in what && what.omitsDriver ? " of `?driver=apart`" : "";
  return [scenario.before, `${owner}\`${line}\`${variant}`];
}

/** Runs a scenario on its own machine. @returns all cells of its row */
export async function runScenario(
  windows: Simulation,
  scenario: Scenario,
  group: ScenarioGroup,
): Promise<readonly string[]> {
  const {
    run,
    code = 0,
    machine = {},
    ranBefore = [],
    changesSince = {},
    what = group.what,
    parameters = {},
    files = {},
  } = scenario;
  await windows.setMachine(machine);
  for (const earlier of ranBefore) {
    const [kind, deployed] = typeof earlier === "string" ? ([earlier, what] as const) : earlier;
    await windows.runSuccessfully(kind, deployed);
  }
  await windows.changeMachine(changesSince);
  const before = await windows.request<Pick<RunResult, "machine">>({ do: "state" });

  const result = await windows.run(run, what, { parameters, files });

  assert.equal(result.code, code, result.output.join("\n"));
  assert.equal(result.left, 0, "something is left in the temporary folder");
  return [
    ...knownCells(scenario, group),
    `${code}: ${lastResult(result)}`,
    describeChanges(before.machine, result),
  ];
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
