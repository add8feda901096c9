import {
  type ChangedTable,
  changedTable,
  isPrinterFile,
  type KeptDeletion,
  NotRestored,
  type RestoredRecord,
} from "../../domain/deletion.ts";
import { type DriverSummary, driverTitle } from "../../domain/drivers/driver.ts";
import { firstOf } from "../../domain/text.ts";
import type { Database } from "../database/database.ts";
import { deletedTables, forgetRows, type References } from "../deletions.ts";
import { keptDigests } from "../kept-changes.ts";
import type { recordsOf } from "../records.ts";

/** Further records are only counted. */
const maxNames = 5;

const replacedRemarks = {
  icon: "The icon that it replaced can be restored as well.",
  preferences: "The preferences that they replaced can be restored as well.",
};

type Records = Pick<
  ReturnType<typeof recordsOf>,
  "deletions" | "clients" | "drivers" | "icons" | "preferences"
>;

/** Restores deleted and changed records as they were. */
export class Restoring {
  readonly #db: Database;
  readonly #records: Records;

  constructor(db: Database, records: Records) {
    this.#db = db;
    this.#records = records;
  }

  /**
   * Undoes a deletion completely or not at all. Of a change, it undoes what nobody changed since. A restored icon replaces the printer's current icon, whose deletion can be
   * undone as well.
   * @returns the record, the restored printers, and the deletion of the icon or preferences that were replaced, if there were any
   * @throws NotRestored when another record prevents it
   */
  restore(id: number) {
    return this.#db.write(() => {
      const { deletions, icons, preferences } = this.#records;
      const deletion = deletions.find(id);
      if (deletion === undefined) throw new NotRestored(undefined, { kind: "over" });
      const references = deletions.references(id);
      const remarks = this.#remarksOf(deletion, references);
      const isChange = changedTable(deletion.kind) !== undefined;
      const printerIds = isChange ? [] : this.#deletedValues(id, "printers", "id").map(Number);
      const file = isPrinterFile(deletion.kind) ? deletion.kind : undefined;
      const removal = file && { icon: icons, preferences }[file].removeReplaced(deletion.recordId);
      const driverIds = this.#deletedValues(id, "drivers", "id").map(Number);
      this.#putBackAll(deletion);
      remarks.push(...driverIds.flatMap((driverId) => this.#nameRemarks(driverId)));
      forgetRows(this.#db, id);
      this.#db.all("DELETE FROM deletions WHERE id = ?", [id]);
      this.#relistDrivers(references);
      if (file && removal?.deletionId !== undefined) remarks.push(replacedRemarks[file]);
      const { kind, recordId, name } = deletion;
      const record: RestoredRecord = { kind, recordId, name, remarks };
      return { record, printerIds, removal };
    });
  }

  /** One sentence for each thing that will not be as before. @throws NotRestored */
  #remarksOf(deletion: KeptDeletion, references: References): string[] {
    const table = changedTable(deletion.kind);
    const changed = table === undefined ? [] : this.#changedSince(deletion, table, references);
    this.#checkFree(deletion);
    const clients = references.clients.flatMap((client) => this.#clientRemarks(deletion, client));
    const drivers = references.drivers.flatMap((driver) => this.#driverRemarks(deletion, driver));
    return [...changed, ...clients, ...drivers];
  }

  #putBackAll({ id, kind, recordId }: KeptDeletion): void {
    const changed = changedTable(kind);
    if (changed === undefined) for (const table of deletedTables) this.#putBack(id, table);
    else this.#putBackChanged(id, changed);
    if (changed === "drivers") this.#records.drivers.updateListed(recordId);
  }

  /** The values of a column in the rows of a deletion. */
  #deletedValues(id: number, table: (typeof deletedTables)[number], column: string) {
    const rows = this.#db.all(`SELECT ${column} AS value FROM deleted_${table} WHERE deletion_id = ?`, [id]);
    return rows.map(({ value = null }) => value);
  }

  #putBack(id: number, table: (typeof deletedTables)[number]): void {
    const columns = this.#db.all(`PRAGMA table_info(${table})`).map(({ name }) => name);
    this.#db.all(
      `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM deleted_${table} WHERE deletion_id = ?`,
      [id],
    );
  }

  #putBackChanged(id: number, table: ChangedTable): void {
    const columns = this.#db.all(`PRAGMA table_info(${table})`).map(({ name }) => String(name));
    const set = columns.filter((name) => name !== "id").map((name) => `${name} = old.${name}`);
    this.#db.all(
      `UPDATE ${table} SET ${set} FROM deleted_${table} AS old WHERE old.deletion_id = ? AND old.id = ${table}.id`,
      [id],
    );
  }

  /**
   * Forgets the earlier rows of records that were changed or deleted after the change.
   * @returns a remark that names them. @throws NotRestored when no other row is left
   */
  #changedSince(change: KeptDeletion, table: ChangedTable, { left = {} }: References): string[] {
    const now = keptDigests(this.#db, table, change.id);
    const ids = this.#deletedValues(change.id, table, "id").map(Number);
    const others = ids.filter((id) => now.get(id) !== left[id]);
    if (others.length === 0) return [];
    if (others.length === ids.length) {
      const later = this.#records.deletions.findLater(table, ids, change.id);
      throw new NotRestored(change, later ? { kind: "needs", deletion: later } : { kind: "changed" });
    }
    const among = "deletion_id = ?1 AND id IN (SELECT value FROM json_each(?2))";
    const removed = `DELETE FROM deleted_${table} WHERE ${among} RETURNING name`;
    const rows = this.#db.all(removed, [change.id, JSON.stringify(others)]);
    const names = rows.map(({ name }) => `“${name}”`);
    return [`Not restored, because they changed later: ${firstOf(names, maxNames)}.`];
  }

  /** @throws NotRestored when another record has the name or the file of a restored one, or the file's printer is deleted */
  #checkFree(deletion: KeptDeletion): void {
    const { clients, drivers, deletions } = this.#records;
    const { kind, recordId } = deletion;
    for (const name of this.#deletedValues(deletion.id, "clients", "name")) {
      const client = clients.findByName(String(name));
      if (client !== undefined && client.id !== recordId)
        throw new NotRestored(deletion, { kind: "name", client });
    }
    for (const sha256 of this.#deletedValues(deletion.id, "drivers", "sha256")) {
      const driver = drivers.findByDigest(String(sha256));
      if (driver === undefined || driver.id === recordId) continue;
      const { id } = driver;
      throw new NotRestored(deletion, { kind: "upload", driver: { id, title: driverTitle(driver) } });
    }
    if (!isPrinterFile(kind) || this.#db.first("SELECT 1 FROM printers WHERE id = ?", [recordId])) return;
    const needed = deletions.findOf("printers", recordId);
    throw new NotRestored(deletion, needed ? { kind: "needs", deletion: needed } : { kind: "printer" });
  }

  /** @returns a remark when printers are restored without their client. @throws NotRestored when the client can be restored first */
  #clientRemarks(deletion: KeptDeletion, { id, name }: References["clients"][number]): string[] {
    if (this.#records.clients.find(id) !== undefined) return [];
    if (!this.#deletedValues(deletion.id, "printers", "client_id").includes(id)) return [];
    this.#requireNoDeletion(deletion, "clients", id);
    this.#replaceReference(deletion.id, "client_id", id, null);
    return [`The client “${name}” is deleted: restored without a client.`];
  }

  /** Gives a restored driver a free name. @returns a remark if another driver has its name now */
  #nameRemarks(id: number): string[] {
    const name = this.#records.drivers.giveFreeName(id);
    return name === undefined ? [] : [`The driver is now called “${name}”. Another driver has the old name.`];
  }

  /** The same for a driver. If its ZIP was uploaded again, that driver replaces it. */
  #driverRemarks(deletion: KeptDeletion, { id, name, sha256 }: References["drivers"][number]): string[] {
    const { drivers } = this.#records;
    if (drivers.has(id)) return [];
    const usedIds = (["driver_id", "arm64_driver_id"] as const).map((column) =>
      this.#deletedValues(deletion.id, "printers", column),
    );
    if (!usedIds.flat().includes(id)) return [];
    const reuploaded = drivers.findByDigest(sha256);
    if (reuploaded === undefined) this.#requireNoDeletion(deletion, "drivers", id);
    const isFirst = usedIds[0]?.includes(id) ?? false;
    if (reuploaded === undefined) this.#emptyArm64Models(deletion.id, id);
    for (const column of ["driver_id", "arm64_driver_id"] as const)
      this.#replaceReference(deletion.id, column, id, reuploaded?.id ?? null);
    return [driverRemark(name, reuploaded, isFirst)];
  }

  /** @throws NotRestored when a deletion of the missing record can be undone first */
  #requireNoDeletion(deletion: KeptDeletion, table: "clients" | "drivers", recordId: number): void {
    const needed = this.#records.deletions.findOf(table, recordId);
    if (needed !== undefined) throw new NotRestored(deletion, { kind: "needs", deletion: needed });
  }

  #replaceReference(
    deletion: number,
    column: "client_id" | "driver_id" | "arm64_driver_id",
    from: number,
    to: number | null,
  ): void {
    const set = `UPDATE deleted_printers SET ${column} = ? WHERE deletion_id = ? AND ${column} = ?`;
    this.#db.all(set, [to, deletion, from]);
  }

  /** For printers that lose their ARM64 driver: their form would be refused with a model but no driver. */
  #emptyArm64Models(deletion: number, driverId: number): void {
    const set = "UPDATE deleted_printers SET settings = json_set(settings, '$.arm64_driver_desc', '')";
    this.#db.all(`${set} WHERE deletion_id = ? AND arm64_driver_id = ?`, [deletion, driverId]);
  }

  /** Lists of drivers that changed since the deletion must again show the models that only the restored printers use. */
  #relistDrivers({ drivers: before }: References): void {
    const { drivers } = this.#records;
    for (const { id, sha256, models } of before) {
      const now = drivers.has(id) ? id : drivers.findByDigest(sha256)?.id;
      const [driver] = now === undefined ? [] : drivers.references([now]);
      if (driver !== undefined && driver.models !== models) drivers.updateListed(driver.id);
    }
  }
}

/** @param isFirst whether any of the printers had it as its main driver, not only for ARM64 */
function driverRemark(name: string, reuploaded: DriverSummary | undefined, isFirst: boolean): string {
  if (reuploaded !== undefined)
    return `The driver is now “${driverTitle(reuploaded)}”, the same ZIP uploaded again. Check the model.`;
  return `The driver ${isFirst ? "" : "for ARM64 "}“${name}” is deleted. Choose another driver.`;
}
