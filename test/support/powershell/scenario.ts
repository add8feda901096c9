import assert from "node:assert/strict";
import type { ScriptKind } from "../../../src/pkg/scripts/render.ts";
import type { Deployed } from "../audit/deployed.ts";
import type { Machine, RunResult, Simulation } from "./powershell.ts";
import { changesOf } from "./scenario-changes.ts";

/** One row of docs/scenarios.md. */
export interface Scenario {
  /** The machine and the printer before, in words. */
  readonly before: string;
  readonly run: ScriptKind;
  /** What the run must end with, whatever the document says; 0 unless it is given. */
  readonly code?: number;
  readonly machine?: Machine;
  /** What was run before, with success. */
  readonly after?: readonly (ScriptKind | readonly [ScriptKind, Deployed])[];
  /** What has become of the machine since then. */
  readonly since?: Readonly<Record<string, unknown>>;
  /** What the scripts are made of, where it is not what its group has. */
  readonly what?: Deployed;
  readonly parameters?: Readonly<Record<string, true>>;
}

export interface ScenarioGroup {
  readonly title: string;
  /** What all of its scenarios have in common, as Markdown. */
  readonly about: string;
  readonly what: Deployed;
  readonly scenarios: readonly Scenario[];
}

/** The cells of a row that are known without a run, as Markdown. */
export function headOf(scenario: Scenario, group: ScenarioGroup): string[] {
  const { run, parameters = {}, what = group.what } = scenario;
  const line = [`${run}.ps1`, ...Object.keys(parameters).map((name) => `-${name}`)].join(" ");
  const owner = "models" in what ? "the driver’s " : "";
  const variant = "isApart" in what && what.isApart ? " of `?driver=apart`" : "";
  return [scenario.before, `${owner}\`${line}\`${variant}`];
}

/** Runs a scenario on a machine of its own; all cells of its row. */
export async function play(
  windows: Simulation,
  scenario: Scenario,
  group: ScenarioGroup,
): Promise<readonly string[]> {
  const {
    run,
    code = 0,
    machine = {},
    after = [],
    since = {},
    what = group.what,
    parameters = {},
  } = scenario;
  await windows.machine(machine);
  for (const step of after) {
    const [kind, deployed] = typeof step === "string" ? ([step, what] as const) : step;
    await windows.done(kind, deployed);
  }
  await windows.change(since);
  const before = await windows.ask<Pick<RunResult, "machine">>({ do: "state" });

  const result = await windows.run(run, what, { parameters });

  assert.equal(result.code, code, result.output.join("\n"));
  assert.equal(result.left, 0, "something is left in the temporary folder");
  return [...headOf(scenario, group), `${code}: ${saidIn(result)}`, changesOf(before.machine, result)];
}

/** The last line, or what a line of JSON says. */
function saidIn({ output }: RunResult): string {
  const last = output.at(-1);
  if (last === undefined) return "no line at all";
  if (!last.startsWith("{")) return `\`${last}\``;
  const { exitCode, findings } = JSON.parse(last);
  const { level, check, text } = findings.at(-1);
  return `JSON with \`exitCode\` ${exitCode}; the last of ${findings.length} \`findings\`: \`${level} ${check}: ${text}\``;
}
