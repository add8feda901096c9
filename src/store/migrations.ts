import { listedInf, reportFrom } from "../domain/report.ts";
import { type Queries, readable } from "./rows.ts";

/** SQL, or what SQL cannot do. A step may throw where a row cannot be read. */
type Migration = string | ((db: Queries) => void);

/**
 * The schema, step by step: append, never change. A database's `user_version` is the number of steps it
 * has been through. Texts of JSON are written and read by the file of their noun.
 */
export const migrations: readonly Migration[] = [
  `
  CREATE TABLE clients (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,
    notes TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE drivers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256 TEXT NOT NULL UNIQUE,
    file_name TEXT NOT NULL,
    size INTEGER NOT NULL,
    uploaded_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    name TEXT NOT NULL,
    comment TEXT NOT NULL,
    inf_path TEXT NOT NULL,
    driver_desc TEXT NOT NULL,
    trust_publisher INTEGER NOT NULL,
    report TEXT NOT NULL
  ) STRICT;
  CREATE TABLE printers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    client_id INTEGER REFERENCES clients (id),
    driver_id INTEGER REFERENCES drivers (id),
    name TEXT NOT NULL,
    settings TEXT NOT NULL
  ) STRICT;
  CREATE INDEX printers_by_client ON printers (client_id);
  CREATE INDEX printers_by_driver ON printers (driver_id);
  CREATE TABLE icons (
    printer_id INTEGER PRIMARY KEY REFERENCES printers (id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    uploaded_at INTEGER NOT NULL
  ) STRICT;
  `,
  // When the database was written last, kept inside it because the times of files do not survive a copy; of
  // a database that did not keep it, the youngest record's time. Reports move where no list meets them.
  `
  CREATE TABLE saves (id INTEGER PRIMARY KEY CHECK (id = 1), saved_at INTEGER NOT NULL) STRICT;
  INSERT INTO saves (id, saved_at) SELECT 1, coalesce(max(at), 0) FROM (
    SELECT max(created_at) AS at FROM clients UNION ALL SELECT max(updated_at) FROM printers
    UNION ALL SELECT max(updated_at) FROM drivers UNION ALL SELECT max(uploaded_at) FROM icons);
  CREATE TABLE reports (
    driver_id INTEGER PRIMARY KEY REFERENCES drivers (id) ON DELETE CASCADE,
    report TEXT NOT NULL
  ) STRICT;
  INSERT INTO reports (driver_id, report) SELECT id, report FROM drivers;
  ALTER TABLE drivers DROP COLUMN report;
  ALTER TABLE drivers ADD COLUMN listed TEXT NOT NULL DEFAULT 'null';
  CREATE INDEX icons_by_digest ON icons (sha256);
  `,
  (db) => {
    for (const { id } of db.all("SELECT id FROM drivers ORDER BY id")) {
      const [row] = db.all(
        "SELECT inf_path, report FROM drivers JOIN reports ON driver_id = id WHERE id = ?",
        [id ?? null],
      );
      const report = readable(`the driver ${id}`, () => reportFrom(String(row?.report)));
      const driver = { inf_path: String(row?.inf_path), report };
      const listed = JSON.stringify(listedInf(driver) ?? null);
      db.all("UPDATE drivers SET listed = ? WHERE id = ?", [listed, id ?? null]);
    }
  },
];
