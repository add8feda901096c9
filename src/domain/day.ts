export const dayMs = 24 * 60 * 60_000;

/** `2026-11-22`. @param time UTC, milliseconds since 1970 */
export function utcDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** `2026-11-22T140559Z`, as it stands in names of files. @param time UTC, milliseconds since 1970 */
export function timeStamp(time: number): string {
  return `${new Date(time).toISOString().replaceAll(":", "").slice(0, 17)}Z`;
}
