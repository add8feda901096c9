import type { SqlValue } from "sql.js";
import { type KeptDeletion, NotRestored, type RestoredRecord } from "../domain/deletion.ts";
import { type DriverSummary, driverTitle } from "../domain/driver.ts";
import type { Clients } from "./clients.ts";
import type { Database } from "./database/database.ts";
import { inParts } from "./database/slices.ts";
import { contentFrom, type DeletedContent, type DeletedTable, deletedTables } from "./deleted-content.ts";
import type { Deletions, Removal } from "./deletions.ts";
import type { Drivers } from "./drivers.ts";
import type { Icons } from "./icons.ts";
import { emptyArm64Models } from "./printer-changes.ts";

/** Where deleted records refer to what is not there any more: what they refer to instead, by the old id. */
type Instead = ReadonlyMap<SqlValue, number | null>;

/** What stands in place of what restored printers referred to. */
interface Replaced {
  readonly client_id: Instead;
  readonly driver_id: Instead;
  readonly notes: readonly string[];
}

interface Restored {
  readonly record: RestoredRecord;
  /** Of those that came back. */
  readonly printerIds: readonly number[];
  /** What had to go for it, where something had to. */
  readonly removal: Removal | undefined;
}

const iconTaken = "The icon that was there instead can be taken back in its turn.";

interface Records {
  readonly deletions: Deletions;
  readonly clients: Clients;
  readonly drivers: Drivers;
  readonly icons: Icons;
}

/** Brings deleted records back, as they were. */
export class Restoring {
  readonly #db: Database;
  readonly #deletions: Deletions;
  readonly #clients: Clients;
  readonly #drivers: Drivers;
  readonly #icons: Icons;

  constructor(db: Database, records: Records) {
    this.#db = db;
    this.#deletions = records.deletions;
    this.#clients = records.clients;
    this.#drivers = records.drivers;
    this.#icons = records.icons;
  }

  /**
   * Takes a deletion back, all of it or nothing. An icon takes the place of the one that its printer has, which is kept
   * as deleted in its turn.
   * @throws NotRestored where something stands in the way
   */
  restore(id: number): Promise<Restored> {
    return this.#db.write(() => this.#restore(id));
  }

  *#restore(id: number): Generator<undefined, Restored> {
    const deletion = this.#deletions.find(id);
    if (deletion === undefined) throw new NotRestored(undefined, { kind: "over" });
    const content = yield* this.#contentOf(id);
    yield* this.#checkFree(deletion, content);
    const replaced = this.#replaced(deletion, content);
    this.#db.all("DELETE FROM deletions WHERE id = ?", [id]);
    const removal = deletion.kind === "icon" ? this.#icons.take(deletion.recordId) : undefined;
    for (const table of deletedTables) yield* this.#insert(table, content, replaced);
    const printerIds = valuesIn(content, "printers", "id").map(Number);
    const seconds = valuesIn(content, "printers", "arm64_driver_id");
    const orphans = printerIds.filter((_, i) => replaced.driver_id.get(seconds[i] ?? null) === null);
    yield* inParts(orphans, (some) => emptyArm64Models(this.#db, some));
    this.#listDriversAgain(content, replaced);
    const { kind, recordId, name } = deletion;
    const notes = removal?.kept === undefined ? replaced.notes : [iconTaken];
    return { record: { kind, recordId, name, notes }, printerIds, removal };
  }

  *#contentOf(id: number): Generator<undefined, DeletedContent> {
    const row = this.#db.first("SELECT content FROM deletions WHERE id = ?", [id]);
    yield;
    return yield* contentFrom(String(row?.content));
  }

  /** @throws NotRestored where another record has the place of one that would come back */
  *#checkFree(deletion: KeptDeletion, content: DeletedContent): Generator<undefined, void> {
    for (const name of valuesIn(content, "clients", "name")) {
      const client = this.#clients.findByName(String(name));
      if (client !== undefined) throw new NotRestored(deletion, { kind: "name", client });
    }
    for (const sha256 of valuesIn(content, "drivers", "sha256")) {
      const driver = this.#drivers.findByDigest(String(sha256));
      if (driver === undefined) continue;
      const { id } = driver;
      throw new NotRestored(deletion, { kind: "upload", driver: { id, title: driverTitle(driver) } });
    }
    if (deletion.kind === "icon") yield* this.#checkIcon(deletion);
  }

  *#checkIcon(deletion: KeptDeletion): Generator<undefined, void> {
    const printerId = deletion.recordId;
    if (this.#db.first("SELECT 1 FROM printers WHERE id = ?", [printerId]) !== undefined) return;
    const needed = this.#deletions.findOf("printer", printerId) ?? (yield* this.#severalWith(printerId));
    throw new NotRestored(deletion, needed ? { kind: "needs", deletion: needed } : { kind: "printer" });
  }

  /** The deletion of several printers that one of them went with. */
  *#severalWith(printerId: number): Generator<undefined, KeptDeletion | undefined> {
    for (const deletion of this.#deletions.list()) {
      if (deletion.kind !== "printers") continue;
      const content = yield* this.#contentOf(deletion.id);
      if (valuesIn(content, "printers", "id").includes(printerId)) return deletion;
    }
    return undefined;
  }

  /** @throws NotRestored where printers refer to what can be brought back first */
  #replaced(deletion: KeptDeletion, content: DeletedContent): Replaced {
    const [client_id, driver_id] = [new Map<SqlValue, null>(), new Map<SqlValue, number | null>()];
    const notes: string[] = [];
    for (const { id, name } of content.references.clients) {
      if (this.#clients.find(id) !== undefined) continue;
      this.#checkLost(deletion, "client", id);
      client_id.set(id, null);
      notes.push(`Without the client “${name}”, which is deleted.`);
    }
    const first = new Set(valuesIn(content, "printers", "driver_id"));
    for (const { id, name, sha256 } of content.references.drivers) {
      if (this.#drivers.has(id)) continue;
      const again = this.#drivers.findByDigest(sha256);
      if (again === undefined) this.#checkLost(deletion, "driver", id);
      driver_id.set(id, again?.id ?? null);
      notes.push(driverNote(name, again, first.has(id)));
    }
    return { client_id, driver_id, notes };
  }

  /** @throws NotRestored where the record that is not there can be brought back */
  #checkLost(deletion: KeptDeletion, kind: KeptDeletion["kind"], recordId: number): void {
    const needed = this.#deletions.findOf(kind, recordId);
    if (needed !== undefined) throw new NotRestored(deletion, { kind: "needs", deletion: needed });
  }

  /** A column that a newer Platen left out is left out; one that it added has its default. */
  *#insert(table: DeletedTable, { tables }: DeletedContent, replaced: Replaced): Generator<undefined, void> {
    const { columns = [], rows = [] } = tables[table] ?? {};
    const known = new Set(this.#db.all(`PRAGMA table_info(${table})`).map(({ name }) => name));
    const used = columns.flatMap((name, at) => (known.has(name) ? { name, at } : []));
    const row = `(${used.map(() => "?").join()})`;
    const names = used.map(({ name }) => name).join();
    yield* inParts(rows, (some) => {
      const values = some.flatMap((cells) =>
        used.map(({ name, at }) => insteadOf(replaced, name, cells[at])),
      );
      this.#db.all(`INSERT INTO ${table} (${names}) VALUES ${some.map(() => row).join()}`, values);
    });
  }

  /** Where a driver's models changed meanwhile, its lists must name what these printers deploy and it has not. */
  #listDriversAgain({ references }: DeletedContent, { driver_id }: Replaced): void {
    for (const { id, models } of references.drivers) {
      const now = driver_id.get(id) ?? id;
      const [driver] = this.#drivers.references([now]);
      if (driver !== undefined && driver.models !== models) this.#drivers.listAgain(now);
    }
  }
}

/** @param isFirst whether it was the first driver of any of the printers */
function driverNote(name: string, again: DriverSummary | undefined, isFirst: boolean): string {
  if (again !== undefined)
    return `With “${driverTitle(again)}”, which is the same ZIP uploaded again: its model may be another one.`;
  return `Without the driver ${isFirst ? "" : "for ARM64 "}“${name}”, which is deleted: choose one.`;
}

/** What a column of restored rows refers to. */
const referring: Readonly<Record<string, "client_id" | "driver_id">> = {
  client_id: "client_id",
  driver_id: "driver_id",
  arm64_driver_id: "driver_id",
};

function insteadOf(replaced: Replaced, column: string, value: SqlValue = null): SqlValue {
  const kind = referring[column];
  const instead = kind && replaced[kind].get(value);
  return instead === undefined ? value : instead;
}

/** A column of deleted rows. */
function valuesIn({ tables }: DeletedContent, table: DeletedTable, column: string): SqlValue[] {
  const { columns = [], rows = [] } = tables[table] ?? {};
  const at = columns.indexOf(column);
  return at < 0 ? [] : rows.map((row) => row[at] ?? null);
}
