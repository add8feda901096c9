// The quick tier takes a few of many like cases, the deep tier all of them. A file that imports this one is run by both.
import { type TestContext, type TestOptions, test } from "node:test";

/** Whether these are the exhaustive tests: `npm run test:deep`. */
export const isDeep = process.env.DEEP === "1";

type Run = (t: TestContext) => void | Promise<void>;

/** A test of the deep tier alone. */
export function deepTest(name: string, run: Run): void;
export function deepTest(name: string, options: TestOptions, run: Run): void;
export function deepTest(...given: [string, Run] | [string, TestOptions, Run]): void {
  if (isDeep) void test(...(given as [string, Run]));
}

/** Returns all cases in the deep tier, and `count` of them in the quick one, evenly spread from the first to the last. */
export function some<T>(cases: readonly T[], count: number): readonly T[] {
  if (isDeep || count >= cases.length) return cases;
  const step = (cases.length - 1) / Math.max(1, count - 1);
  return Array.from({ length: count }, (_, i) => cases[Math.round(i * step)] as T);
}

/** The number of random cases. */
export function rounds(quick: number, deep: number): number {
  return isDeep ? deep : quick;
}

/** The seed of random cases: the variable `SEED`, else the one given. The deep tier prints it. */
export function seedOr(fixed: number): number {
  const seed = Number(process.env.SEED ?? fixed);
  if (isDeep) console.log(`SEED=${seed}`);
  return seed;
}

/** The windows that pages are shown in: in the deep tier every width in light and in dark, in the quick one the narrowest in dark. */
export function looks(
  widths: readonly number[],
): readonly { readonly colorScheme: "light" | "dark"; readonly width: number }[] {
  if (!isDeep) return [{ colorScheme: "dark", width: Math.min(...widths) }];
  return (["light", "dark"] as const).flatMap((colorScheme) =>
    widths.map((width) => ({ colorScheme, width })),
  );
}
