import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeep } from "../depth.ts";
import type { RunResult, Simulation } from "../powershell/powershell.ts";
import { traces } from "../powershell/simulated-machine.ts";

type Failure = "error" | "cut";

interface Interrupted {
  readonly script: readonly [...Parameters<Simulation["run"]>];
  /** Sets up the machine. */
  readonly prepare: () => Promise<unknown>;
  /** The script must make more calls than this. */
  readonly moreThan: number;
  /** The kind of failure in the quick tier; a case without one is deep only. */
  readonly quick?: Failure;
  /** The calls that fail in the quick tier: parts of their number. */
  readonly quickAt?: readonly number[];
  readonly deep: readonly Failure[];
}

/**
 * Declares a test that lets each call of a script fail in turn, always on the same machine, and checks after each failure
 * what follows. The quick tier tries one call, or a few.
 * @param name what the test says after the words “after a failure at any call of”
 */
export function testInterrupted(
  windows: Simulation,
  name: string,
  { script: [kind, what], prepare, moreThan, quick, quickAt = [0.6], deep }: Interrupted,
  check: (where: string, broken: RunResult) => Promise<void>,
): void {
  for (const failWith of isDeep ? deep : quick === undefined ? [] : [quick]) {
    test(`after a failure (${failWith}) at any call of ${name}`, async () => {
      await prepare();
      const { length: count } = (await windows.runSuccessfully(kind, what)).calls;
      assert.ok(count > moreThan, `${count} calls`);
      const all = Array.from({ length: count }, (_, i) => i + 1);
      for (const failAt of isDeep ? all : quickAt.map((part) => Math.max(1, Math.round(part * count)))) {
        await prepare();
        const broken = await windows.run(kind, what, { failAt, failWith });
        await check(`call ${failAt} of ${count}, ${broken.calls[failAt - 1]}`, broken);
      }
    });
  }
}

/** Asserts that every run succeeded, and that the last one left nothing that the scripts add. @param store packages that may stay */
export function assertNothingLeft(
  runs: readonly RunResult[],
  where: string,
  store: readonly string[] = [],
): void {
  for (const { code, output } of runs) assert.equal(code, 0, `${where}: ${output.join(" ")}`);
  const last = runs.at(-1);
  assert.ok(last !== undefined);
  const left = last.machine.Store.filter((name) => !store.includes(name));
  assert.deepEqual([traces(last), last.machine.Publishers, left], [[], [], []], where);
}
