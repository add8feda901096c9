import { median } from "../bench/figures.ts";

/** What a process used while idle. */
export interface Sample {
  readonly minute: number;
  /** Resident memory in MiB. */
  readonly rss: number;
  readonly descriptors: number;
  /** Files and sockets below DATA_DIR and the temporary folder. */
  readonly files: number;
}

/** Differences that do not count as growth. */
const slack: Record<Exclude<keyof Sample, "minute">, number> = { rss: 8, descriptors: 3, files: 3 };

/**
 * Reports what grew after the warm-up, which is the first third of the samples. A figure grew if the median of the last
 * third is above that of the middle third, and the slope of both thirds agrees. Neither suffices alone: one late peak
 * raises a slope, one early dip a median.
 */
export function growth(samples: readonly Sample[]): string[] {
  const third = Math.floor(samples.length / 3);
  if (third < 3) return [`${samples.length} samples are too few to tell`];
  const warm = samples.slice(third);
  return (Object.keys(slack) as (keyof typeof slack)[]).flatMap((what) => {
    const values = warm.map((sample) => sample[what]);
    const difference = median(values.slice(-third)) - median(values.slice(0, third));
    const rise = slope(warm.map(({ minute }, i) => [minute, values[i] ?? 0])) * spanOf(warm);
    const isFlat = difference <= slack[what] || rise <= slack[what];
    return isFlat
      ? []
      : [`${what} grew by ${difference.toFixed(1)} (slope: ${rise.toFixed(1)} over the run)`];
  });
}

function spanOf(samples: readonly Sample[]): number {
  return (samples.at(-1)?.minute ?? 0) - (samples[0]?.minute ?? 0);
}

/** The median slope between all pairs (Theil–Sen), which peaks do not affect. */
function slope(points: readonly (readonly [number, number])[]): number {
  const slopes = points.flatMap(([x, y], i) =>
    points.slice(i + 1).map(([otherX, otherY]) => (otherY - y) / (otherX - x)),
  );
  return median(slopes);
}
