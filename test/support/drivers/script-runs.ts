import type { ScriptKind } from "../../../src/pkg/scripts/render.ts";
import type { Deployed } from "../audit/deployed.ts";
import type { RunResult, Simulation } from "../powershell/powershell.ts";

type Results<K> = { [I in keyof K]: RunResult };

/** Runs scripts of one deployment one after another. */
export async function runAll<K extends ScriptKind[]>(windows: Simulation, what: Deployed, ...kinds: K) {
  const results: RunResult[] = [];
  for (const kind of kinds) results.push(await windows.run(kind, what));
  return results as Results<K>;
}

/** Runs scripts of several deployments one after another; each exit code must be 0. */
export async function runSteps<K extends [ScriptKind, Deployed][]>(windows: Simulation, ...steps: K) {
  const results: RunResult[] = [];
  for (const step of steps) results.push(await windows.runSuccessfully(...step));
  return results as Results<K>;
}

export const lastLine = ({ output }: RunResult) => output.at(-1) ?? "";

/** The exit code and the last line of each run. */
export const endsOf = (...runs: RunResult[]) => runs.map((run) => `${run.code} ${lastLine(run)}`);

/** The calls of a run that change Windows or contact the printer. */
export const changing = ({ calls }: RunResult) =>
  calls.filter((call) => /Add-|Set-|Remove-|Rename-|Restart-|pnputil|registry|connection/.test(call));

export const queuesOf = ({ machine }: RunResult) => machine.Queues.map(({ Name }) => Name);

export const driverNamesOf = ({ machine }: RunResult) => machine.Drivers.map(({ Name }) => Name);

/** A second run that finds everything in place. */
export const unchanged = "0 Installed: Office: nothing to change";
