import { alteredBytes } from "../database/altered.ts";
import { endLinks } from "../link-generations.ts";
import { leaveOutNumbers } from "../record-numbers.ts";

/**
 * A sound state of a database that is gone back to, without what would come back of its time: links that were revoked since,
 * and numbers that other records got meanwhile.
 */
export function earlierState(bytes: Uint8Array): Promise<Uint8Array> {
  return alteredBytes(bytes, (db) => {
    endLinks(db);
    leaveOutNumbers(db);
  });
}
