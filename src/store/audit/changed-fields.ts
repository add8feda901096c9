import type { SqlValue } from "sql.js";
import type { ChangedField } from "../../domain/audit.ts";
import { printerDefaults } from "../../domain/printer-fields.ts";
import type { Queries } from "../database/rows.ts";
import { flagColumns, hiddenFields, references, timeColumns } from "./audited-tables.ts";
import type { TouchedRecord } from "./watched-tables.ts";

/** What a write changed in one record after the other. */
export class ChangedFields {
  readonly #db: Queries;
  /** Names of records that others refer to, by table and number. */
  readonly #names = new Map<string, string>();

  constructor(db: Queries) {
    this.#db = db;
  }

  /** The fields that are others than before; of a record that is new all that says anything. */
  changed({ values, json, hidden, wasThere }: TouchedRecord): ChangedField[] {
    const columns = values.flatMap(([name, before, now]) => {
      if (wasThere ? before === now : now === 0) return [];
      return fieldOf(name, wasThere ? this.#text(name, before) : "", this.#text(name, now), wasThere);
    });
    const secret = hidden.map((name) => ({ name }));
    return [...columns, ...settingsChanged(json, wasThere), ...secret];
  }

  #text(column: string, value: SqlValue): string {
    if (value === null) return "";
    const table = references[column];
    if (table !== undefined) return this.#reference(table, Number(value));
    if (timeColumns.has(column)) return new Date(Number(value)).toISOString();
    return flagColumns.has(column) ? textOf(value === 1) : String(value);
  }

  /** `3 Contoso` */
  #reference(table: string, id: number): string {
    const key = `${table} ${id}`;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const column =
      table === "drivers" ? "coalesce(nullif(name, ''), nullif(driver_desc, ''), file_name)" : "name";
    const row = this.#db.first(`SELECT ${column} AS name FROM ${table} WHERE id = ?`, [id]);
    const text = row === undefined ? String(id) : `${id} ${row.name}`;
    this.#names.set(key, text);
    return text;
  }
}

/** What a record that is new does not have is not said of it. */
function fieldOf(name: string, from: string, to: string, wasThere: boolean): ChangedField[] {
  if (from === to) return [];
  return [wasThere ? { name, from, to } : { name, to }];
}

const settings = Object.entries(printerDefaults).map(([name, value]) => [name, value as unknown] as const);

/** What is not in the JSON has the default of printers of which nothing is said. */
function settingsChanged([before, now]: TouchedRecord["json"], wasThere: boolean): ChangedField[] {
  if (before === now) return [];
  const [old, fresh] = [objectIn(before), objectIn(now)];
  return settings.flatMap(([name, byDefault]) => {
    const [a, b] = [old[name] ?? byDefault, fresh[name] ?? byDefault];
    if (a === b) return [];
    const [from, to] = [textOf(a), textOf(b)];
    if (from === to) return [];
    return hiddenFields.has(name) ? [{ name }] : fieldOf(name, from, to, wasThere);
  });
}

function objectIn(json: string): Readonly<Record<string, unknown>> {
  return json === "" ? {} : (JSON.parse(json) as Record<string, unknown>);
}

function textOf(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Array.isArray(value) ? value.join(", ") : String(value ?? "");
}
