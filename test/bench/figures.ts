import { cpus } from "node:os";

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** Runs work several times. @returns milliseconds for each run */
export async function times(count: number, work: (i: number) => unknown): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    await work(i);
    found.push(performance.now() - started);
  }
  return found;
}

export function machine(): string {
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}`;
}

/** Prints a Markdown table. */
export function table(rows: readonly (readonly string[])[]): void {
  const [head = [], ...body] = rows;
  for (const row of [head, head.map(() => "---"), ...body]) console.log(`| ${row.join(" | ")} |`);
}
