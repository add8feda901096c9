import type { RecordKind } from "../../domain/audit/audit.ts";

/** A table whose changes are written down. A column that is not named here is not looked at. */
export interface AuditedTable {
  readonly table: string;
  readonly kind: RecordKind;
  /** The column of the record's number. */
  readonly id: string;
  /** What people know the record by, in SQL of its row, which is called `row`. */
  readonly name: string;
  /** Written down with their values. */
  readonly shown: readonly string[];
  /** Of these only that they changed: they are secret, or large. */
  readonly hidden: readonly string[];
  /** A column of JSON, each of whose fields is written down by itself. */
  readonly json?: string;
}

/** Columns that are 1 or 0 for yes and no. */
export const flagColumns: ReadonlySet<string> = new Set([
  ...["model_chosen", "trust_publisher", "drop_unused"],
  ...["one_time", "disabled"],
]);

/** Columns of moments: UTC, milliseconds since 1970. */
export const timeColumns: ReadonlySet<string> = new Set(["expires_at"]);

/** Fields in JSON of which only is written down that they changed. */
export const hiddenFields: ReadonlySet<string> = new Set(["snmp_community"]);

/** What columns refer to: the record's name is written down with its number. */
export const references: Readonly<Record<string, string>> = {
  client_id: "clients",
  driver_id: "drivers",
  arm64_driver_id: "drivers",
};

const printersName = "coalesce((SELECT name FROM printers WHERE id = row.printer_id), '')";

/** Records before what refers to them. */
export const auditedTables: readonly AuditedTable[] = [
  {
    table: "clients",
    kind: "client",
    id: "id",
    name: "row.name",
    shown: ["name", "notes", "subnets"],
    hidden: [],
  },
  {
    table: "drivers",
    kind: "driver",
    id: "id",
    name: "coalesce(nullif(row.name, ''), nullif(row.driver_desc, ''), row.file_name)",
    shown: [
      ...["name", "comment", "file_name", "sha256", "inf_path", "driver_desc"],
      ...["model_chosen", "trust_publisher", "drop_unused"],
    ],
    hidden: [],
  },
  {
    table: "printers",
    kind: "printer",
    id: "id",
    name: "row.name",
    shown: ["name", "client_id", "driver_id", "arm64_driver_id"],
    hidden: ["print_ticket"],
    json: "settings",
  },
  {
    table: "icons",
    kind: "icon",
    id: "printer_id",
    name: printersName,
    shown: ["sha256"],
    hidden: [],
  },
  {
    table: "accounts",
    kind: "account",
    id: "id",
    name: "row.name",
    shown: ["name", "role", "one_time", "disabled"],
    hidden: ["password_hash"],
  },
  {
    table: "tokens",
    kind: "token",
    id: "id",
    name: "row.name",
    shown: ["name", "scope", "scope_id", "expires_at"],
    hidden: ["sha256"],
  },
];
