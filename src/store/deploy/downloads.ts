import { type Deployed, type DownloadCount, deployingKinds } from "../../domain/deploy/download.ts";
import { Changes, noPlace } from "../audit/changes.ts";
import type { AuditPlace } from "../audit/writer.ts";
import type { Database } from "../database/database.ts";

export type PrinterDownloads = DownloadCount & { readonly printer_id: number };

/** The most recent revisions to keep for each printer and kind of download. */
const maxRevisions = 5;

export class Downloads {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The last deployment of each deployed printer, by printer id. @param ids all printers by default */
  lastDeployed(ids?: readonly number[]): Map<number, Deployed> {
    const among = ids === undefined ? "" : "AND printer_id IN (SELECT value FROM json_each(?))";
    const rows = this.#db.all(
      `SELECT printer_id, revision, max(last_at) AS at FROM downloads
        WHERE what IN (${deployingKinds.map(() => "?").join()}) ${among} GROUP BY printer_id`,
      [...deployingKinds, ...(ids === undefined ? [] : [JSON.stringify(ids)])],
    );
    return new Map(
      rows.map(({ printer_id, revision, at }) => [
        Number(printer_id),
        { revision: String(revision), at: Number(at) },
      ]),
    );
  }

  /** The most recent first. */
  ofPrinter(id: number): DownloadCount[] {
    const rows = this.#db.all("SELECT * FROM downloads WHERE printer_id = ? ORDER BY last_at DESC", [id]);
    return rows.map(({ what, revision, who, count, first_at, last_at }) => ({
      what: String(what),
      revision: String(revision),
      who: String(who),
      count: Number(count),
      first_at: Number(first_at),
      last_at: Number(last_at),
    }));
  }

  /**
   * Adds counts in one transaction. It ignores printers that no longer exist.
   * @param upTo the last line of the audit log that is now counted
   */
  add(counts: readonly PrinterDownloads[], upTo: AuditPlace): Promise<void> {
    const columns = ["printer_id", "what", "revision", "who", "count", "first_at", "last_at"];
    const values = columns.map((name) => `value ->> '${name}'`);
    return this.#db.write(() => {
      this.#db.all(
        `INSERT INTO downloads (${columns.join()})
          SELECT ${values.join()} FROM json_each(?) WHERE value ->> 'printer_id' IN (SELECT id FROM printers)
          ON CONFLICT DO UPDATE SET count = count + excluded.count, last_at = max(last_at, excluded.last_at)`,
        [JSON.stringify(counts)],
      );
      this.#deleteOld([...new Set(counts.map(({ printer_id }) => printer_id))]);
      new Changes(this.#db).setPlace("counted", upTo);
    });
  }

  /** The last line of the audit log that is counted. */
  countedUpTo(): AuditPlace {
    return new Changes(this.#db).place("counted") ?? noPlace;
  }

  #deleteOld(ids: readonly number[]): void {
    this.#db.all(
      `DELETE FROM downloads WHERE (printer_id, what, revision) IN (
        SELECT printer_id, what, revision FROM (
          SELECT printer_id, what, revision,
            row_number() OVER (PARTITION BY printer_id, what ORDER BY max(last_at) DESC) AS age
          FROM downloads WHERE printer_id IN (SELECT value FROM json_each(?))
          GROUP BY printer_id, what, revision) WHERE age > ?)`,
      [JSON.stringify(ids), maxRevisions],
    );
  }
}
