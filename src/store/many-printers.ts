import { clientNameKey } from "../domain/client.ts";
import type { DeletedRecord } from "../domain/deletion.ts";
import { throwIfAny } from "../domain/fields.ts";
import type { ImportWrite } from "../domain/import-plan.ts";
import type { Clients } from "./clients.ts";
import type { Database } from "./database/database.ts";
import { digestIn } from "./database/rows.ts";
import { keepDeleted, type Removal } from "./deletions.ts";
import type { Drivers } from "./drivers.ts";
import { checkIds, setClient, setDriver } from "./printer-changes.ts";
import type { Printers } from "./printers.ts";
import { movePrinters, stagePrinters } from "./staged-printers.ts";

const among = "IN (SELECT value FROM json_each(?))";

/** What is done with many printers in one write, and deleting one of them. */
export class ManyPrinters {
  readonly #db: Database;
  readonly #clock: () => number;
  readonly #clients: Clients;
  readonly #drivers: Drivers;
  readonly #printers: Printers;

  constructor(db: Database, clock: () => number, clients: Clients, drivers: Drivers, printers: Printers) {
    this.#db = db;
    this.#clock = clock;
    this.#clients = clients;
    this.#drivers = drivers;
    this.#printers = printers;
  }

  /** @throws UserError "invalid" that names the printers that are not there */
  checkThere(ids: readonly number[]): void {
    checkIds(this.#db, ids);
  }

  /**
   * Within a write: gives printers a driver, and models that they choose by themselves. Nothing is checked anew.
   * @param models by the printers' ids
   * @param arm64Models likewise of printers that are given it as their second driver
   */
  *useDriver(
    driverId: number | null,
    models: ReadonlyMap<number, string>,
    arm64Models: ReadonlyMap<number, string> = new Map(),
  ): Generator<undefined, void> {
    const now = this.#clock();
    yield* setDriver(this.#db, "", driverId, models, now);
    yield* setDriver(this.#db, "arm64_", driverId, arm64Models, now);
  }

  /** Within a write: makes and changes printers, and makes the clients that they bring along. Nothing is checked anew. */
  *importAll(writes: readonly ImportWrite[]): Generator<undefined, void> {
    const clients = new Map(
      writes.flatMap(({ newClient }) =>
        newClient ? [[clientNameKey(newClient.name), newClient] as const] : [],
      ),
    );
    for (const client of clients.values()) {
      this.#clients.insert(client);
      yield;
    }
    yield* stagePrinters(this.#db, writes);
    yield* movePrinters(this.#db, this.#clock());
  }

  /** Its icon and its downloads go with it. @throws UserError "not-found" */
  remove(id: number): Promise<Removal> {
    return this.#db.freeingWrite((isFinal) => {
      const { printer } = this.#printers.get(id);
      const deleted = { kind: "printer", recordId: id, name: printer.name } as const;
      return this.#remove([id], deleted, isFinal);
    });
  }

  /** All of them or none. @throws UserError "invalid" when one of them does not exist */
  removeMany(ids: readonly number[]): Promise<Removal> {
    return this.#db.freeingWrite((isFinal) => {
      checkIds(this.#db, ids);
      const name = ids.length === 1 ? "1 printer" : `${ids.length} printers`;
      const deleted = { kind: "printers", recordId: 0, name } as const;
      return this.#remove(ids, deleted, isFinal);
    });
  }

  /** Within a write. */
  #remove(ids: readonly number[], deleted: DeletedRecord, isFinal: boolean): Removal {
    const distinct = (column: string, table: string, key: string) =>
      this.#db.all(
        `SELECT DISTINCT ${column} AS value FROM ${table} WHERE ${column} IS NOT NULL AND ${key} ${among}`,
        [JSON.stringify(ids)],
      );
    const idsOf = (column: string) => distinct(column, "printers", "id").map(({ value }) => Number(value));
    const files = distinct("sha256", "icons", "printer_id").map(
      ({ value }) => ({ kind: "icons", sha256: digestIn({ sha256: value ?? null }) }) as const,
    );
    const references = {
      clients: this.#clients.references(idsOf("client_id")),
      drivers: this.#drivers.references([...new Set([...idsOf("driver_id"), ...idsOf("arm64_driver_id")])]),
    };
    const rows = [
      ["printers", "id", ids] as const,
      ["icons", "printer_id", ids] as const,
      ["downloads", "printer_id", ids] as const,
    ];
    const removal = keepDeleted(this.#db, this.#clock(), { ...deleted, rows, references, files }, isFinal);
    this.#db.all(`DELETE FROM printers WHERE id ${among}`, [JSON.stringify(ids)]);
    return removal;
  }

  /** All of them or none. @throws UserError "invalid" when one of them or the client does not exist */
  moveAll(ids: readonly number[], clientId: number | null): Promise<void> {
    return this.#db.write(() => {
      checkIds(this.#db, ids);
      throwIfAny(this.#printers.referenceProblems({ client_id: clientId, driver_id: null, driver_desc: "" }));
      return setClient(this.#db, ids, clientId, this.#clock());
    });
  }
}
