import type { ScriptKind } from "../../../src/pkg/scripts/render.ts";
import type { Deployed } from "../audit/deployed.ts";
import type { RunResult, Simulation } from "../powershell/powershell.ts";

/** Runs scripts of one deployment one after another. */
export async function runAll<K extends ScriptKind[]>(windows: Simulation, what: Deployed, ...kinds: K) {
  const results: RunResult[] = [];
  for (const kind of kinds) results.push(await windows.run(kind, what));
  return results as { [I in keyof K]: RunResult };
}

export const lastLine = ({ output }: RunResult) => output.at(-1) ?? "";

export const queuesOf = ({ machine }: RunResult) => machine.Queues.map(({ Name }) => Name);

export const driverNamesOf = ({ machine }: RunResult) => machine.Drivers.map(({ Name }) => Name);
