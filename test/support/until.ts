/** Waits for a condition, looking again in between; a test that waits in vain ends by its own time-out. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
