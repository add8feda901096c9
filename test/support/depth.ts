// The quick tier takes a few of many like cases, the deep tier all of them. A file that imports this one is run by both.
import { test } from "node:test";

/** Whether these are the exhaustive tests: `npm run test:deep`. */
export const isDeep = process.env.DEEP === "1";

/** A test of the deep tier alone. */
export const deepTest = (isDeep ? test : () => Promise.resolve()) as typeof test;

/** Of cases that are alike: in the quick tier so many, evenly spread with the first and the last among them; in the deep one all. */
export function some<T>(cases: readonly T[], count: number): readonly T[] {
  if (isDeep || count >= cases.length) return cases;
  const step = (cases.length - 1) / Math.max(1, count - 1);
  return Array.from({ length: count }, (_, i) => cases[Math.round(i * step)] as T);
}

/** How many random cases are tried. */
export function rounds(quick: number, deep: number): number {
  return isDeep ? deep : quick;
}

/**
 * A seed for random cases: `SEED` where it is set, else the one given in the quick tier and another one each day in the
 * deep one, which says it, so that what failed can be run again.
 */
export function seedOr(fixed: number): number {
  const seed = Number(process.env.SEED ?? (isDeep ? Math.floor(Date.now() / 86_400_000) * 100 : fixed));
  if (isDeep) console.log(`SEED=${seed}`);
  return seed;
}

/** The widths of windows to look at in a colour scheme: in the quick tier the first one in light, the last one in dark. */
export function widthsIn(colorScheme: "light" | "dark", widths: readonly number[]): readonly number[] {
  return isDeep ? widths : widths.slice(...(colorScheme === "light" ? [0, 1] : [-1]));
}
