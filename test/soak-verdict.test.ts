import assert from "node:assert/strict";
import { test } from "node:test";
import { growth, type Sample } from "./bench/measure.ts";

function samplesOf(rss: (minute: number) => number, descriptors = (_: number) => 30): Sample[] {
  return Array.from({ length: 30 }, (_, minute) => ({
    minute,
    rss: rss(minute),
    descriptors: descriptors(minute),
    files: 12,
  }));
}

test("memory that warms up, varies and has peaks is not reported as growth", () => {
  const warming = samplesOf((minute) => 120 - 40 * Math.exp(-minute / 3) + (minute % 3));
  const peaks = samplesOf((minute) => (minute % 9 === 0 ? 190 : 110));

  const found = [growth(warming), growth(peaks)];

  assert.deepEqual(found, [[], []]);
});

test("growth of 1 MiB or one descriptor a minute is reported, also after a flat middle, and so are too few samples", () => {
  const memory = samplesOf((minute) => 100 + minute + 3 * (minute % 2));
  const descriptors = samplesOf(
    () => 100,
    (minute) => 30 + minute,
  );
  const late = samplesOf((minute) => (minute < 18 ? 100 : 100 + 5 * (minute - 18)));

  const found = [memory, descriptors, late, late.slice(0, 8)].map((samples) => growth(samples).join());

  for (const [i, what] of [
    /^rss grew by 1\d/,
    /^descriptors grew by 1\d/,
    /^rss grew/,
    /^8 samples are too few/,
  ].entries())
    assert.match(found[i] ?? "", what);
});
