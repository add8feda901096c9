import type { TestContext } from "node:test";

type Work = () => unknown;

/** What is still to be done after each test. */
const left = new WeakMap<TestContext, Work[]>();

/**
 * Runs work after a test, the latest first: a service is stopped before its folder is removed. Node's own `t.after` runs
 * the first first.
 */
export function cleanUp(t: TestContext, work: Work): void {
  const others = left.get(t);
  if (others !== undefined) {
    others.push(work);
    return;
  }
  const all = [work];
  left.set(t, all);
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
