import { type KeptDeletion, NotRestored, type RestoredRecord } from "../../domain/deletion.ts";
import { type DriverSummary, driverTitle } from "../../domain/drivers/driver.ts";
import type { Database } from "../database/database.ts";
import { type Deletions, deletedTables, forgetRows, type References, type Removal } from "../deletions.ts";
import type { Drivers } from "../drivers/drivers.ts";
import type { Clients } from "../printers/clients.ts";
import type { Icons } from "../printers/icons.ts";

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
  readonly #records: Records;

  constructor(db: Database, records: Records) {
    this.#db = db;
    this.#records = records;
  }

  /**
   * Takes a deletion back, all of it or nothing. An icon takes the place of the one that its printer has, which is kept
   * as deleted in its turn.
   * @throws NotRestored where something stands in the way
   */
  restore(id: number): Promise<Restored> {
    return this.#db.write(() => {
      const { deletions, icons } = this.#records;
      const deletion = deletions.find(id);
      if (deletion === undefined) throw new NotRestored(undefined, { kind: "over" });
      this.#checkFree(deletion);
      const references = deletions.references(id);
      const notes = [
        ...references.clients.flatMap((client) => this.#withoutClient(deletion, client)),
        ...references.drivers.flatMap((driver) => this.#withoutDriver(deletion, driver)),
      ];
      const printerIds = this.#kept(id, "printers", "id").map(Number);
      const removal = deletion.kind === "icon" ? icons.take(deletion.recordId) : undefined;
      for (const table of deletedTables) this.#putBack(id, table);
      forgetRows(this.#db, id);
      this.#db.all("DELETE FROM deletions WHERE id = ?", [id]);
      this.#listDriversAgain(references);
      if (removal?.kept !== undefined) notes.push(iconTaken);
      const { kind, recordId, name } = deletion;
      return { record: { kind, recordId, name, notes }, printerIds, removal };
    });
  }

  /** A column of the rows that a deletion keeps. */
  #kept(id: number, table: (typeof deletedTables)[number], column: string) {
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

  /** @throws NotRestored where another record has the place of one that would come back */
  #checkFree(deletion: KeptDeletion): void {
    const { clients, drivers, deletions } = this.#records;
    for (const name of this.#kept(deletion.id, "clients", "name")) {
      const client = clients.findByName(String(name));
      if (client !== undefined) throw new NotRestored(deletion, { kind: "name", client });
    }
    for (const sha256 of this.#kept(deletion.id, "drivers", "sha256")) {
      const driver = drivers.findByDigest(String(sha256));
      if (driver === undefined) continue;
      const { id } = driver;
      throw new NotRestored(deletion, { kind: "upload", driver: { id, title: driverTitle(driver) } });
    }
    const { kind, recordId } = deletion;
    if (kind !== "icon" || this.#db.first("SELECT 1 FROM printers WHERE id = ?", [recordId])) return;
    const needed = deletions.findOf("printers", recordId);
    throw new NotRestored(deletion, needed ? { kind: "needs", deletion: needed } : { kind: "printer" });
  }

  /** @returns a note where printers come back without their client. @throws NotRestored where it can come back first */
  #withoutClient(deletion: KeptDeletion, { id, name }: References["clients"][number]): string[] {
    if (this.#records.clients.find(id) !== undefined) return [];
    this.#checkLost(deletion, "clients", id);
    this.#refer(deletion.id, "client_id", id, null);
    return [`Without the client “${name}”, which is deleted.`];
  }

  /** Likewise of a driver; one that was uploaded again since takes its place. */
  #withoutDriver(deletion: KeptDeletion, { id, name, sha256 }: References["drivers"][number]): string[] {
    const { drivers } = this.#records;
    if (drivers.has(id)) return [];
    const again = drivers.findByDigest(sha256);
    if (again === undefined) this.#checkLost(deletion, "drivers", id);
    const isFirst = this.#kept(deletion.id, "printers", "driver_id").includes(id);
    if (again === undefined) this.#emptyArm64Models(deletion.id, id);
    for (const column of ["driver_id", "arm64_driver_id"] as const)
      this.#refer(deletion.id, column, id, again?.id ?? null);
    return [driverNote(name, again, isFirst)];
  }

  /** @throws NotRestored where the record that is not there can be brought back */
  #checkLost(deletion: KeptDeletion, table: "clients" | "drivers", recordId: number): void {
    const needed = this.#records.deletions.findOf(table, recordId);
    if (needed !== undefined) throw new NotRestored(deletion, { kind: "needs", deletion: needed });
  }

  #refer(
    deletion: number,
    column: "client_id" | "driver_id" | "arm64_driver_id",
    from: number,
    to: number | null,
  ): void {
    const set = `UPDATE deleted_printers SET ${column} = ? WHERE deletion_id = ? AND ${column} = ?`;
    this.#db.all(set, [to, deletion, from]);
  }

  /** Of printers that lose their second driver: its model alone means nothing, and a form that has one is refused. */
  #emptyArm64Models(deletion: number, driverId: number): void {
    const set = "UPDATE deleted_printers SET settings = json_set(settings, '$.arm64_driver_desc', '')";
    this.#db.all(`${set} WHERE deletion_id = ? AND arm64_driver_id = ?`, [deletion, driverId]);
  }

  /** Where a driver's models changed meanwhile, its lists must name what these printers deploy and it has not. */
  #listDriversAgain({ drivers: before }: References): void {
    const { drivers } = this.#records;
    for (const { id, sha256, models } of before) {
      const now = drivers.has(id) ? id : drivers.findByDigest(sha256)?.id;
      const [driver] = now === undefined ? [] : drivers.references([now]);
      if (driver !== undefined && driver.models !== models) drivers.listAgain(driver.id);
    }
  }
}

/** @param isFirst whether it was the first driver of any of the printers */
function driverNote(name: string, again: DriverSummary | undefined, isFirst: boolean): string {
  if (again !== undefined)
    return `With “${driverTitle(again)}”, which is the same ZIP uploaded again: its model may be another one.`;
  return `Without the driver ${isFirst ? "" : "for ARM64 "}“${name}”, which is deleted: choose one.`;
}
