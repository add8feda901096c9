/**
 * The schema, step by step: append, never change. A database's `user_version` is the number of steps it
 * has been through. Texts of JSON are written and read by the file of their noun.
 */
export const migrations: readonly string[] = [
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
];
