import type { Queries, Row } from "./rows.ts";

/**
 * A picture's digest where no record has it. Asked inside the write that took a record away, so that the
 * answer is as lasting as that write.
 */
export function digestIfUnused(
  db: Queries,
  icon: { readonly sha256?: Row[string] } | undefined,
): string | undefined {
  if (icon === undefined) return undefined;
  const sha256 = String(icon.sha256);
  return db.first("SELECT 1 FROM icons WHERE sha256 = ? LIMIT 1", [sha256]) ? undefined : sha256;
}
