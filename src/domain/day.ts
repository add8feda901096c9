export const dayMs = 24 * 60 * 60_000;

/** `2026-11-22`. @param time UTC, milliseconds since 1970 */
export function utcDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
