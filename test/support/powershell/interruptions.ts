import assert from "node:assert/strict";
import { some } from "../depth.ts";
import type { RunOptions, RunResult, Simulation } from "./powershell.ts";

interface Interruption extends Pick<RunOptions, "failWith"> {
  /** Puts the machine in place. */
  readonly prepare: () => Promise<unknown>;
  /** The script makes more calls than these. */
  readonly moreThan: number;
}

interface Interrupted {
  /** The run that failed at one of its calls. */
  readonly broken: RunResult;
  /** The same run without a failure. */
  readonly whole: RunResult;
  /** Which call it was, for messages. */
  readonly where: string;
}

/**
 * Runs a script as often as it makes calls, on the same machine each time, with a failure at one call after the other; in the
 * quick tier at a few of them.
 */
export async function* interrupted(
  windows: Simulation,
  [kind, what]: readonly [...Parameters<Simulation["run"]>],
  { prepare, moreThan, failWith = "error" }: Interruption,
): AsyncGenerator<Interrupted> {
  await prepare();
  const whole = await windows.done(kind, what);
  const count = whole.calls.length;
  assert.ok(count > moreThan, `${count} calls`);
  const calls = Array.from({ length: count }, (_, i) => i + 1);
  for (const failAt of some(calls, 3)) {
    await prepare();
    const broken = await windows.run(kind, what, { failAt, failWith });
    yield { broken, whole, where: `call ${failAt} of ${count}, ${broken.calls[failAt - 1]}` };
  }
}
