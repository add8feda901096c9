// The quick tier runs a few of many similar cases, the deep tier runs all. Both tiers run a file that imports this one.
import { type TestContext, type TestOptions, test } from "node:test";

/** Whether this is the deep tier: `npm run test:deep`. */
export const isDeep = process.env.DEEP === "1";

type Run = (t: TestContext) => void | Promise<void>;

/** Declares a test that only the deep tier runs. */
export function deepTest(name: string, run: Run): void;
export function deepTest(name: string, options: TestOptions, run: Run): void;
export function deepTest(...given: [string, Run] | [string, TestOptions, Run]): void {
  if (isDeep) void test(...(given as [string, Run]));
}

/** Returns all cases in the deep tier, and `count` evenly spread cases in the quick tier. */
export function selectCases<T>(cases: readonly T[], count: number): readonly T[] {
  if (isDeep || count >= cases.length) return cases;
  const step = (cases.length - 1) / Math.max(1, count - 1);
  return Array.from({ length: count }, (_, i) => cases[Math.round(i * step)] as T);
}

/** The number of random cases in this tier. */
export function rounds(quick: number, deep: number): number {
  return isDeep ? deep : quick;
}

/** The seed of random cases: the variable `SEED`, else `fixed`. The deep tier prints it. */
export function seedOr(fixed: number): number {
  const seed = Number(process.env.SEED ?? fixed);
  if (isDeep) console.log(`SEED=${seed}`);
  return seed;
}

/** The windows in which pages are tested: every width in light and dark in the deep tier, the narrowest in dark otherwise. */
export function windowVariants(
  widths: readonly number[],
): readonly { readonly colorScheme: "light" | "dark"; readonly width: number }[] {
  if (!isDeep) return [{ colorScheme: "dark", width: Math.min(...widths) }];
  return (["light", "dark"] as const).flatMap((colorScheme) =>
    widths.map((width) => ({ colorScheme, width })),
  );
}
