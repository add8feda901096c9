import type { TestContext } from "node:test";

type Work = () => unknown;

/** The work to do after each test. */
const pending = new WeakMap<TestContext, Work[]>();

/**
 * Runs work after a test, last registered first, so that a service is stopped before its folder is removed. Node's own
 * `t.after` runs the first registered first.
 */
export function cleanUp(t: TestContext, work: Work): void {
  const others = pending.get(t);
  if (others !== undefined) {
    others.push(work);
    return;
  }
  const all = [work];
  pending.set(t, all);
  t.after(() => runAll(all));
}

async function runAll(all: Work[]): Promise<void> {
  const last = all.pop();
  if (last === undefined) return;
  try {
    await last();
  } finally {
    await runAll(all);
  }
}
