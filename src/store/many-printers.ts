import { clientNameKey } from "../domain/client.ts";
import type { DeletedRecord } from "../domain/deletion.ts";
import { throwIfAny } from "../domain/fields.ts";
import type { ImportWrite } from "../domain/import-plan.ts";
import type { Clients } from "./clients.ts";
import type { Database } from "./database/database.ts";
import { digestIn } from "./database/rows.ts";
import { inParts } from "./database/slices.ts";
import { idsIn, keepDeletedInParts, mostKeptBytes, type Removal, rowsInParts } from "./deletions.ts";
import type { Drivers } from "./drivers.ts";
import { checkIds, setClient, setDriver } from "./printer-changes.ts";
import type { Printers } from "./printers.ts";
import { movePrinters, stagePrinters } from "./staged-printers.ts";

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
  *#remove(ids: readonly number[], deleted: DeletedRecord, isFinal: boolean): Generator<undefined, Removal> {
    const icons = yield* rowsInParts(this.#db, "icons", "printer_id", ids);
    const digests = new Set(icons.map(digestIn));
    const files = [...digests].map((sha256) => ({ kind: "icons", sha256 }) as const);
    const isTooLarge = isFinal || this.#printers.settingsBytes(ids) > mostKeptBytes;
    const kept = isTooLarge ? [] : ids;
    const printers = yield* rowsInParts(this.#db, "printers", "id", kept);
    const downloads = yield* rowsInParts(this.#db, "downloads", "printer_id", kept);
    const drivers = new Set([...idsIn(printers, "driver_id"), ...idsIn(printers, "arm64_driver_id")]);
    const references = {
      clients: this.#clients.references(idsIn(printers, "client_id")),
      drivers: this.#drivers.references([...drivers]),
    };
    const deletion = { ...deleted, rows: { printers, icons, downloads }, references, files };
    const removal = yield* keepDeletedInParts(this.#db, this.#clock(), deletion, { isFinal: isTooLarge });
    yield* inParts(ids, (some) =>
      this.#db.all("DELETE FROM printers WHERE id IN (SELECT value FROM json_each(?))", [
        JSON.stringify(some),
      ]),
    );
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
