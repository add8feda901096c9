import type { SqlValue } from "sql.js";
import type { AuditedEvent, AuditedRecord, ChangedField, RecordKind } from "../../domain/audit/audit.ts";
import { isPrinterFile } from "../../domain/deletion.ts";
import { printerDefaults } from "../../domain/printers/printer-fields.ts";
import type { Queries, Row } from "../database/rows.ts";

/** A table whose changes are recorded. Columns that are not listed here are ignored. */
interface AuditedTable {
  readonly table: string;
  readonly kind: RecordKind;
  /** The column of the record's id. */
  readonly id: string;
  /** An SQL expression for the record's name. `row` in it is the record's row. */
  readonly name: string;
  /** Columns recorded with their values. */
  readonly visible: readonly string[];
  /** Secret or large columns. The log records that they changed, but not their values. */
  readonly hidden: readonly string[];
  /** A JSON column. Each of its fields is recorded separately. */
  readonly json?: string;
}

const driverFlags = ["model_chosen", "trust_publisher", "drop_unused", "exact_version"];

/** Columns with 1 for yes and 0 for no. */
const flagColumns = [...driverFlags, "one_time", "disabled"];

/** Columns of times: UTC, milliseconds since 1970. */
const timeColumns = ["expires_at"];

/** Secret JSON fields. The log records that they changed, but not their values. */
const hiddenFields = ["snmp_community"];

/** The tables that columns refer to. The name of the referenced record is recorded with its id. */
const references: Readonly<Record<string, string>> = {
  client_id: "clients",
  driver_id: "drivers",
  arm64_driver_id: "drivers",
};

const nameOfPrinter = "coalesce((SELECT name FROM printers WHERE id = row.printer_id), '')";

const usual = { id: "id", name: "row.name", hidden: [] } as const;

const clientColumns = [
  ...["name", "notes", "subnets", "tenant_id"],
  ...["app_name", "app_owner", "app_notes", "icon_sha256"],
];

/** Ordered so that each table comes before the tables that refer to it. */
const auditedTables: readonly AuditedTable[] = [
  { ...usual, table: "clients", kind: "client", visible: clientColumns },
  {
    ...usual,
    table: "drivers",
    kind: "driver",
    visible: ["name", "comment", "file_name", "sha256", "inf_path", "driver_desc", ...driverFlags],
  },
  {
    ...usual,
    table: "printers",
    kind: "printer",
    visible: ["name", "client_id", "driver_id", "arm64_driver_id"],
    hidden: ["print_ticket"],
    json: "settings",
  },
  { ...usual, table: "icons", kind: "icon", id: "printer_id", name: nameOfPrinter, visible: ["sha256"] },
  {
    ...usual,
    ...{ table: "preferences", kind: "preferences", id: "printer_id", name: nameOfPrinter },
    visible: ["sha256", "driver_desc"],
  },
  {
    ...usual,
    table: "accounts",
    kind: "account",
    visible: ["name", "role", "one_time", "disabled"],
    hidden: ["password_hash"],
  },
  {
    ...usual,
    table: "tokens",
    kind: "token",
    visible: ["name", "scope", "scope_id", "expires_at"],
    hidden: ["sha256"],
  },
];

// Triggers keep the old values of a record in a temporary table: one row for each record, however often the write changes
// it. Temporary tables are never saved.

/** Statements that make a connection keep the old values during a write. */
export const watchStatements: string = [
  "CREATE TEMP TABLE touched (kind, id, name, was, hidden, PRIMARY KEY (kind, id))",
  "CREATE TEMP TABLE restoring (id INTEGER PRIMARY KEY)",
  // A deletion without a title is final. A deletion with a title is only deleted when it is undone.
  `CREATE TEMP TRIGGER restoring_deleted AFTER DELETE ON main.deletions WHEN OLD.title <> ''
    BEGIN INSERT INTO restoring VALUES (OLD.id); END`,
  ...auditedTables.flatMap(triggersOf),
].join(";\n");

function triggersOf(audited: AuditedTable): string[] {
  const { table, kind, id, name, visible, hidden, json } = audited;
  const trigger = (event: string, when: string, values: string, conflict: string) =>
    `CREATE TEMP TRIGGER touched_${table}_${event} AFTER ${event} ON main.${table} ${when} BEGIN
      INSERT INTO touched (kind, id, name, was, hidden) VALUES ('${kind}', ${values}) ON CONFLICT ${conflict}; END`;
  const old = `OLD.${id}, ${name.replaceAll("row.", "OLD.")}, ${jsonOf(audited, "OLD")}`;
  const differs = (column: string) => `OLD.${column} IS NOT NEW.${column}`;
  const anyDiffers = [...visible, ...hidden, ...(json ? [json] : [])].map(differs).join(" OR ");
  const changed = hidden.map((column) => `iif(${differs(column)}, '${column} ', '')`).join(" || ") || "''";
  return [
    trigger("INSERT", "", `NEW.${id}, '', NULL, ''`, "DO NOTHING"),
    trigger(
      "UPDATE",
      `WHEN ${anyDiffers}`,
      `${old}, ${changed}`,
      "DO UPDATE SET hidden = hidden || excluded.hidden",
    ),
    trigger("DELETE", "", `${old}, ''`, "DO NOTHING"),
  ];
}

/** An SQL expression for a JSON object with the visible columns of a row and its JSON column. */
function jsonOf({ visible, json }: AuditedTable, row: string): string {
  const values = visible.map((column) => `'${column}', ${row}.${column}`);
  return `json_object(${[...values, ...(json ? [`'${json}', json(${row}.${json})`] : [])].join()})`;
}

type ChangedRecord = Pick<AuditedEvent, "event" | "fields"> & { readonly record: AuditedRecord };

/** Within a write: its changes, one for each record, in the order of `auditedTables`. It also clears the old values. */
export function changedRecords(db: Queries): ChangedRecord[] {
  const kinds = new Set(db.all("SELECT DISTINCT kind FROM temp.touched").map(({ kind }) => kind));
  if (kinds.size === 0) return [];
  const isRestore = db.first("SELECT 1 FROM temp.restoring") !== undefined;
  const columnText = columnTexts(db);
  const changed = auditedTables
    .filter(({ kind }) => kinds.has(kind))
    .flatMap((table) => touchedRows(db, table).flatMap((row) => changeOf(table, row, isRestore, columnText)));
  db.all("DELETE FROM temp.touched");
  db.all("DELETE FROM temp.restoring");
  // When a printer is created, deleted or restored, its files have no entries of their own.
  const wholePrinters = new Set(
    changed.flatMap(({ event, record }) =>
      record.kind === "printer" && event !== "changed" ? [record.id] : [],
    ),
  );
  return changed.filter(({ record }) => !isPrinterFile(record.kind) || !wholePrinters.has(record.id));
}

function touchedRows(db: Queries, audited: AuditedTable): Row[] {
  const { table, kind, id, name } = audited;
  return db.all(
    `SELECT old.id, old.was, old.hidden, row.${id} IS NOT NULL AS is_there, ${jsonOf(audited, "row")} AS now,
        CASE WHEN row.${id} IS NULL THEN old.name ELSE ${name} END AS name
      FROM temp.touched AS old LEFT JOIN main.${table} AS row ON row.${id} = old.id
      WHERE old.kind = ? ORDER BY old.id`,
    [kind],
  );
}

function changeOf(
  table: AuditedTable,
  row: Row,
  isRestore: boolean,
  columnText: ColumnText,
): ChangedRecord[] {
  const record = { kind: table.kind, id: Number(row.id), name: String(row.name) };
  const wasThere = row.was !== null;
  if (row.is_there === 0) return wasThere ? [{ event: "deleted", record }] : [];
  if (isRestore && !wasThere) return [{ event: "restored", record }];
  const fields = changedFields(table, row, columnText);
  if (!wasThere) return [{ event: "created", record, fields }];
  return fields.length === 0 ? [] : [{ event: isRestore ? "restored" : "changed", record, fields }];
}

const settings = Object.entries(printerDefaults) as [name: string, byDefault: unknown][];

/** The fields with new values; for a new record, the fields that differ from the defaults. */
function changedFields(table: AuditedTable, row: Row, columnText: ColumnText): ChangedField[] {
  const [was, now] = [objectIn(row.was), objectIn(row.now)];
  const columns = table.visible.map((name) => [
    name,
    columnText(name, was[name]),
    columnText(name, now[name]),
  ]);
  const settingTexts = settings.map(([name, byDefault]) => [
    name,
    textOf(settingIn(was, name) ?? byDefault),
    textOf(settingIn(now, name) ?? byDefault),
  ]);
  const changed = [...columns, ...(table.json === undefined ? [] : settingTexts)].filter(
    ([, from, to]) => from !== to,
  );
  const hidden = table.hidden.filter((name) => String(row.hidden).split(" ").includes(name));
  return [
    ...changed.map(([name = "", from = "", to = ""]) => {
      if (hiddenFields.includes(name)) return { name };
      return row.was === null ? { name, to } : { name, from, to };
    }),
    ...hidden.map((name) => ({ name })),
  ];
}

type Values = Readonly<Record<string, unknown>>;

function objectIn(json: SqlValue | undefined): Values {
  return JSON.parse(String(json ?? "{}")) as Values;
}

function settingIn({ settings }: Values, name: string): unknown {
  return (settings as Values | null | undefined)?.[name];
}

function textOf(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Array.isArray(value) ? value.join(", ") : String(value ?? "");
}

/** Formats the value of a column for an entry. */
type ColumnText = (column: string, value: unknown) => string;

/** The returned function reads the name of each referenced record only once. */
function columnTexts(db: Queries): ColumnText {
  const known = new Map<string, string>();
  /** `3 Contoso` */
  const reference = (table: string, id: number) => {
    const name = auditedTables.find((audited) => audited.table === table)?.name;
    const row = db.first(`SELECT ${name} AS name FROM ${table} AS row WHERE id = ?`, [id]);
    return row === undefined ? String(id) : `${id} ${row.name}`;
  };
  return (column, value) => {
    if (flagColumns.includes(column)) return textOf(value === 1);
    if (value === undefined || value === null) return "";
    if (timeColumns.includes(column)) return new Date(Number(value)).toISOString();
    const table = references[column];
    if (table === undefined) return String(value);
    const key = `${table} ${value}`;
    const text = known.get(key) ?? reference(table, Number(value));
    known.set(key, text);
    return text;
  };
}
