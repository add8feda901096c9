// What tests do on a simulated machine, step by step.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ScriptKind } from "../../../src/pkg/scripts/render.ts";
import type { Deployed } from "../audit/deployed.ts";
import type { RunOptions, RunResult, Simulation } from "./powershell.ts";

export type State = RunResult["machine"];
export type Values = Readonly<Record<string, unknown>>;
type Run = readonly [runs: string, what: Deployed, options?: RunOptions | undefined];

/**
 * Runs (`install -WhatIf, detect`), or runs with what they deploy; what later runs deploy; or a machine. The first machine is the
 * initial one, those after it change it. A function makes changes from the result of the last run.
 */
export type Step = string | Run | Deployed | Values | ((last: RunResult) => Values);

const isRun = (step: Step): step is Run => Array.isArray(step);
const isDeployed = (step: object): step is Deployed =>
  "printer" in step || "printers" in step || "models" in step;

/** The steps with one run each. */
export function* singleRuns(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    if (typeof step === "string") yield* step.split(", ");
    else if (isRun(step)) for (const line of step[0].split(", ")) yield [line, step[1], step[2]];
    else yield step;
  }
}

/** The run of a step, if it is one. @param what what the steps before have deployed */
export function runOf(step: Step | undefined, what: Deployed): Required<RunLine> | undefined {
  if (typeof step === "string") return { line: step, what, options: {} };
  if (step === undefined || !isRun(step)) return undefined;
  return { line: step[0], what: step[1], options: step[2] ?? {} };
}

interface RunLine {
  readonly line: string;
  readonly what: Deployed;
  readonly options: RunOptions;
}

export interface Ran {
  readonly line: string;
  readonly before: State;
  readonly result: RunResult;
}

/** Takes the steps one by one. @param what the deployment until a step names another */
export async function* play(
  windows: Simulation,
  steps: readonly Step[],
  what: Deployed,
): AsyncGenerator<Ran> {
  let isNew = true;
  let last: RunResult | undefined;
  let before: State | undefined;
  const setMachine = async (values: Values) => {
    await (isNew ? windows.setMachine(values) : windows.changeMachine(values));
    isNew = false;
    before = undefined;
  };
  for (const step of singleRuns(steps)) {
    const run = runOf(step, what);
    if (run !== undefined) {
      if (isNew) await setMachine({});
      before ??= (await windows.request<{ machine: State }>({ do: "state" })).machine;
      const result = await runLine(windows, run);
      yield { line: run.line, before, result };
      last = result;
      before = result.machine;
    } else if (typeof step === "function") await setMachine(step(last as RunResult));
    else if (isDeployed(step as object)) what = step as Deployed;
    else await setMachine(step as Values);
  }
}

async function runLine(windows: Simulation, { line, what, options }: RunLine): Promise<RunResult> {
  const [kind, ...switches] = line.split(" -");
  const parameters = { ...options.parameters, ...Object.fromEntries(switches.map((name) => [name, true])) };
  const result = await windows.run(kind as ScriptKind, what, { ...options, parameters });
  // The next run has a log of its own.
  for (const folder of result.logFolders.map((name) => join(windows.folder, name)))
    for (const name of readdirSync(folder)) if (name.endsWith(".log")) rmSync(join(folder, name));
  return result;
}
