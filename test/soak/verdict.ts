import { median } from "../bench/figures.ts";

/** What a process had at a quiet moment. */
export interface Sample {
  readonly minute: number;
  /** Resident memory in MiB. */
  readonly rss: number;
  readonly descriptors: number;
  /** Files and sockets below DATA_DIR and the folder for temporary files. */
  readonly files: number;
}

/** So much may come and go between two samples without being growth. */
const slack: Record<Exclude<keyof Sample, "minute">, number> = { rss: 8, descriptors: 3, files: 3 };

/**
 * What grew after the warm-up, which is the first third of the samples: where the last third's median is above the
 * middle third's, and the slope of all samples after the warm-up says the same. Neither alone: one late peak lifts a
 * slope, one early dip a median.
 */
export function growth(samples: readonly Sample[]): string[] {
  const third = Math.floor(samples.length / 3);
  if (third < 3) return [`${samples.length} samples are too few to tell`];
  const warm = samples.slice(third);
  return (Object.keys(slack) as (keyof typeof slack)[]).flatMap((what) => {
    const values = warm.map((sample) => sample[what]);
    const step = median(values.slice(-third)) - median(values.slice(0, third));
    const rise = slope(warm.map(({ minute }, i) => [minute, values[i] ?? 0])) * spanOf(warm);
    const isFlat = step <= slack[what] || rise <= slack[what];
    return isFlat ? [] : [`${what} grew by ${step.toFixed(1)} (slope: ${rise.toFixed(1)} over the run)`];
  });
}

function spanOf(samples: readonly Sample[]): number {
  return (samples.at(-1)?.minute ?? 0) - (samples[0]?.minute ?? 0);
}

/** The median of the slopes between all pairs (Theil and Sen): peaks do not move it. */
function slope(points: readonly (readonly [number, number])[]): number {
  const slopes = points.flatMap(([x, y], i) =>
    points.slice(i + 1).map(([otherX, otherY]) => (otherY - y) / (otherX - x)),
  );
  return median(slopes);
}
