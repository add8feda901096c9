import { alteredBytes } from "../database/altered.ts";
import { itself } from "./actor.ts";
import { Changes } from "./changes.ts";

/** Further on than any change that the log of a backup may have and its database not. */
const behindAll = 1_000_000;

/**
 * A state of a database that is gone back to, with an entry for the audit log, which the next start writes: so it stands
 * there once, also where that start comes to nothing.
 * @param at UTC, milliseconds since 1970
 */
export function withRestored(bytes: Uint8Array, at: number, what: string): Promise<Uint8Array> {
  return alteredBytes(bytes, (db) => {
    // One of before there was a log has no place for it.
    if (db.first("SELECT 1 FROM sqlite_schema WHERE name = 'changes'") === undefined) return;
    const changes = new Changes(db);
    changes.keep(changes.last() + behindAll, [{ at, ...itself, event: "backup-restored", what }]);
  });
}
