const timeoutMs = 60_000;

/** Waits until a condition is true, checking every 5 ms. @throws Error if it is not within a minute */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const started = performance.now();
  while (!(await condition())) {
    if (performance.now() - started > timeoutMs) throw new Error(`it never came true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
