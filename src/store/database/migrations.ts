import { randomBytes } from "node:crypto";
import { chosenInf, infTitle } from "../../domain/drivers/driver.ts";
import { DriverNames, proposedNames } from "../../domain/drivers/driver-name.ts";
import { preferredDescription } from "../../domain/drivers/models.ts";
import { listedInf, listedInfFrom, reportFrom } from "../../domain/drivers/report.ts";
import { windowsDriverRecords } from "../../domain/drivers/windows-drivers.ts";
import { listedSettingsFrom } from "../../domain/printers/printer-fields.ts";
import { randomText } from "../../domain/secrets.ts";
import { type Queries, readRow, unpackText } from "./rows.ts";

/** SQL, or a function for what SQL cannot do. It may throw when a row cannot be read. */
type Migration = string | ((db: Queries) => void);

/**
 * Append to this list, and never change an entry. A database's `user_version` is the number of migrations that it has run.
 * The store file of each kind of record reads and writes its JSON columns.
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
  // The time of the last write, stored in the database because a file's time does not survive a copy. An older database
  // gets the time of its newest record. Reports move to a table of their own, so that lists do not read them.
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
  // This once filled the `listed` column of drivers. A later migration does that now.
  () => {},
  // Whether a user chose the driver's model: for older drivers, whether it differs from the model that Platen prefers.
  // Unused files that packages leave out, downloaded revisions, and deletions that can be undone.
  `
  ALTER TABLE drivers ADD COLUMN model_chosen INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE drivers ADD COLUMN drop_unused INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE downloads (
    printer_id INTEGER NOT NULL REFERENCES printers (id) ON DELETE CASCADE,
    what TEXT NOT NULL,
    revision TEXT NOT NULL,
    who TEXT NOT NULL,
    count INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (printer_id, what, revision, who)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE deletions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    deleted_at INTEGER NOT NULL,
    title TEXT NOT NULL,
    content TEXT NOT NULL
  ) STRICT;
  CREATE TABLE deleted_files (
    deletion_id INTEGER NOT NULL REFERENCES deletions (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (kind, sha256, deletion_id)
  ) STRICT, WITHOUT ROWID;
  `,
  (db) => {
    for (const { id } of db.all("SELECT id FROM drivers ORDER BY id")) listDriver(db, Number(id));
  },
  // Drivers included with Windows, a second driver for ARM64, PrintTickets, and the subnets of clients.
  `
  ALTER TABLE drivers ADD COLUMN origin TEXT NOT NULL DEFAULT 'upload';
  ALTER TABLE printers ADD COLUMN arm64_driver_id INTEGER REFERENCES drivers (id);
  ALTER TABLE printers ADD COLUMN print_ticket TEXT NOT NULL DEFAULT '';
  CREATE INDEX printers_by_arm64_driver ON printers (arm64_driver_id);
  ALTER TABLE clients ADD COLUMN subnets TEXT NOT NULL DEFAULT '';
  `,
  addWindowsDrivers,
  // Accounts and sessions. Only the digest of a session's cookie is stored.
  `
  CREATE TABLE accounts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    one_time INTEGER NOT NULL,
    disabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    password_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    address TEXT NOT NULL,
    browser TEXT NOT NULL
  ) STRICT;
  CREATE INDEX sessions_by_account ON sessions (account_id);
  `,
  // API tokens, stored as digests, and how often the links of a record were revoked.
  `
  CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    scope TEXT NOT NULL,
    scope_id INTEGER,
    sha256 TEXT NOT NULL UNIQUE,
    beginning TEXT NOT NULL,
    made_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    used_from TEXT NOT NULL DEFAULT ''
  ) STRICT;
  CREATE TABLE link_generations (
    kind TEXT NOT NULL,
    id INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID;
  `,
  // Numbered changes that the audit log may not have yet, and the places of the log that the database knows.
  `
  CREATE TABLE changes (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, content TEXT NOT NULL) STRICT;
  CREATE TABLE audit_places (
    name TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    file TEXT NOT NULL,
    size INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO audit_places (name, seq, hash, file, size) SELECT value, 0, printf('%064d', 0), '', 0
    FROM json_each('["head", "counted"]');
  `,
  // A random text that link signatures include. It differs in each database and changes after a restore.
  (db) => {
    db.all("CREATE TABLE link_epoch (id INTEGER PRIMARY KEY CHECK (id = 1), epoch TEXT NOT NULL) STRICT");
    db.all("INSERT INTO link_epoch (id, epoch) VALUES (1, ?)", [randomText(randomBytes, 16)]);
  },
  // Deleted rows move to tables of their own. Deletions that were kept as JSON become final.
  `
  UPDATE deletions SET title = '', content = '';
  CREATE TABLE deleted_clients AS SELECT 0 AS deletion_id, * FROM clients WHERE 0;
  CREATE TABLE deleted_drivers AS SELECT 0 AS deletion_id, * FROM drivers WHERE 0;
  CREATE TABLE deleted_reports AS SELECT 0 AS deletion_id, * FROM reports WHERE 0;
  CREATE TABLE deleted_printers AS SELECT 0 AS deletion_id, * FROM printers WHERE 0;
  CREATE TABLE deleted_icons AS SELECT 0 AS deletion_id, * FROM icons WHERE 0;
  CREATE TABLE deleted_downloads AS SELECT 0 AS deletion_id, * FROM downloads WHERE 0;
  `,
  // Every driver gets a name of its own. What was its title until now stays its title in packages and scripts.
  (db) => {
    for (const table of ["drivers", "deleted_drivers"]) keepTitles(db, table);
    nameDrivers(db);
  },
  // Undoing and forgetting a change reads only its own rows.
  (db) => {
    for (const table of ["clients", "drivers", "reports", "printers", "icons", "downloads"])
      db.all(`CREATE INDEX deleted_${table}_by_deletion ON deleted_${table} (deletion_id)`);
  },
  // Whether the scripts also replace a newer version of the driver.
  `
  ALTER TABLE drivers ADD COLUMN exact_version INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE deleted_drivers ADD COLUMN exact_version INTEGER NOT NULL DEFAULT 0;
  `,
  // Files with the preferences of vendors' drivers, and the driver and model with which each was saved.
  `
  CREATE TABLE preferences (
    printer_id INTEGER PRIMARY KEY REFERENCES printers (id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    uploaded_at INTEGER NOT NULL,
    crc32 INTEGER NOT NULL,
    driver_sha256 TEXT NOT NULL,
    driver_desc TEXT NOT NULL
  ) STRICT;
  CREATE INDEX preferences_by_digest ON preferences (sha256);
  CREATE TABLE deleted_preferences AS SELECT 0 AS deletion_id, * FROM preferences WHERE 0;
  CREATE INDEX deleted_preferences_by_deletion ON deleted_preferences (deletion_id);
  `,
  // A client's tenant, and what its apps in Intune have.
  (db) => {
    for (const table of ["clients", "deleted_clients"])
      for (const column of ["tenant_id", "app_name", "app_owner", "app_notes", "icon_sha256"])
        db.all(`ALTER TABLE ${table} ADD COLUMN ${column} TEXT NOT NULL DEFAULT ''`);
    for (const table of ["clients", "deleted_clients"])
      db.all(`ALTER TABLE ${table} ADD COLUMN icon_size INTEGER NOT NULL DEFAULT 0`);
  },
  // Accounts of people who sign in at a provider, the end of sessions, and links.
  `
  ALTER TABLE accounts ADD COLUMN issuer TEXT NOT NULL DEFAULT '';
  ALTER TABLE sessions ADD COLUMN ends_at INTEGER NOT NULL DEFAULT 0;
  UPDATE sessions SET ends_at = created_at + 90 * 86400000;
  CREATE TABLE links (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    maker TEXT NOT NULL,
    path TEXT NOT NULL,
    in_script INTEGER NOT NULL,
    end_day INTEGER NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX links_by_path ON links (path);
  `,
];

/** The number of the newest schema, which is a database's `user_version`. */
export const schemaVersion = migrations.length;

/**
 * Migrates the database in memory. The caller saves it only after it has read all rows.
 * @throws Error when a file is no database of Platen's
 */
export function migrate(
  db: Queries & { run(statements: string): void },
  from: number,
  isFile: boolean,
): void {
  const tables = Number(db.first("SELECT count(*) AS n FROM sqlite_schema")?.n);
  if (isFile && (from <= 0 || tables === 0)) throw new Error("it is no database of Platen’s");
  db.run("BEGIN");
  for (const migration of migrations.slice(from)) {
    if (typeof migration === "string") db.run(migration);
    else migration(db);
  }
  db.run("COMMIT");
  db.run(`PRAGMA user_version = ${schemaVersion}`);
}

/** Resets the sequence of ids afterwards, because `Drivers.add` takes the next id for an upload from it. */
function addWindowsDrivers(db: Queries): void {
  const count = Number(db.first("SELECT seq FROM sqlite_sequence WHERE name = 'drivers'")?.seq ?? 0);
  for (const driver of windowsDriverRecords()) {
    const { report, model_chosen, trust_publisher, drop_unused, ...texts } = driver;
    const flags = {
      model_chosen: Number(model_chosen),
      trust_publisher: Number(trust_publisher),
      drop_unused: Number(drop_unused),
    };
    const listed = JSON.stringify(listedInf(driver) ?? null);
    const row = { ...texts, ...flags, listed, uploaded_at: 0, updated_at: 0 };
    const names = Object.keys(row);
    db.all(
      `INSERT INTO drivers (${names.join()}) VALUES (${names.map(() => "?").join()})`,
      Object.values(row),
    );
    db.all("INSERT INTO reports (driver_id, report) VALUES (?, ?)", [driver.id, JSON.stringify(report)]);
  }
  db.all("UPDATE sqlite_sequence SET seq = ? WHERE name = 'drivers'", [count]);
}

/** Fills the `listed` column of a driver. @throws Error naming the row that cannot be read */
function listDriver(db: Queries, id: number): void {
  const row = db.first("SELECT * FROM drivers JOIN reports ON driver_id = id WHERE id = ?", [id]);
  const report = readRow(`the driver ${id}`, () => reportFrom(unpackText(String(row?.report))));
  const driver = { inf_path: String(row?.inf_path), driver_desc: String(row?.driver_desc), report };
  const used = db.all("SELECT id, settings FROM printers WHERE driver_id = ?", [id]).map((printer) => {
    const settings = () => listedSettingsFrom(String(printer.settings));
    return readRow(`the printer ${printer.id}`, settings).driver_desc;
  });
  const inf = chosenInf(driver);
  const preferred = inf && preferredDescription(inf.descriptions, inf.manufacturers);
  const isChosen = driver.driver_desc !== "" && driver.driver_desc !== preferred;
  const listed = JSON.stringify(listedInf(driver, used) ?? null);
  db.all("UPDATE drivers SET listed = ?, model_chosen = ? WHERE id = ?", [listed, Number(isChosen), id]);
}

/** @throws Error naming the row that cannot be read */
function keepTitles(db: Queries, table: string): void {
  db.all(`ALTER TABLE ${table} ADD COLUMN former_title TEXT NOT NULL DEFAULT ''`);
  const uploads = `SELECT rowid AS line, * FROM ${table} WHERE origin = 'upload' ORDER BY id`;
  for (const { line = null, id, name, file_name, inf_path, listed } of db.all(uploads)) {
    const chosen = readRow(`the driver ${id}`, () => listedInfFrom(String(listed)));
    const driver = { file_name: String(file_name), inf_path: String(inf_path), listed: chosen };
    const title = String(name) || infTitle(driver);
    db.all(`UPDATE ${table} SET former_title = ? WHERE rowid = ?`, [title, line]);
  }
}

/**
 * Names that people gave stay; of several drivers with the same name, that of the first.
 * @throws Error naming the row that cannot be read
 */
function nameDrivers(db: Queries): void {
  const columns = "id, name, file_name, inf_path";
  const all = db.all(`SELECT ${columns} FROM drivers ORDER BY origin = 'upload', name = '', id`);
  const names = new DriverNames([]);
  for (const { id = null, name: own, file_name, inf_path } of all) {
    const proposed = () => {
      const row = db.first("SELECT report FROM reports WHERE driver_id = ?", [id]);
      const report = reportFrom(unpackText(String(row?.report)));
      return proposedNames({ file_name: String(file_name), inf_path: String(inf_path), report });
    };
    const name = names.take(own === "" ? readRow(`the driver ${id}`, proposed) : [String(own)]);
    if (name !== own) db.all("UPDATE drivers SET name = ? WHERE id = ?", [name, id]);
  }
}
