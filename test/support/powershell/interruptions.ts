import assert from "node:assert/strict";
import { isDeep, selectCases } from "../depth.ts";
import type { RunOptions, RunResult, Simulation } from "./powershell.ts";

interface Interruption extends Pick<RunOptions, "failWith"> {
  /** Sets up the machine. */
  readonly prepare: () => Promise<unknown>;
  /** The script must make more calls than this. */
  readonly moreThan: number;
  /** Which of the calls fails in the quick tier, from 0 to 1; by default the first, the middle and the last. */
  readonly quickAt?: number;
}

interface Interrupted {
  /** The run that failed at one of its calls. */
  readonly broken: RunResult;
  /** The same run without a failure. */
  readonly whole: RunResult;
  /** The call that failed, for messages. */
  readonly where: string;
}

/**
 * Runs a script once for each of its calls, always on the same machine, and lets this call fail. The quick tier runs only
 * some of the calls.
 */
export async function* interruptEachCall(
  windows: Simulation,
  [kind, what]: readonly [...Parameters<Simulation["run"]>],
  { prepare, moreThan, failWith = "error", quickAt }: Interruption,
): AsyncGenerator<Interrupted> {
  await prepare();
  const whole = await windows.runSuccessfully(kind, what);
  const count = whole.calls.length;
  assert.ok(count > moreThan, `${count} calls`);
  const calls = Array.from({ length: count }, (_, i) => i + 1);
  const isOne = quickAt !== undefined && !isDeep;
  for (const failAt of isOne ? [Math.ceil(quickAt * count)] : selectCases(calls, 3)) {
    await prepare();
    const broken = await windows.run(kind, what, { failAt, failWith });
    yield { broken, whole, where: `call ${failAt} of ${count}, ${broken.calls[failAt - 1]}` };
  }
}
