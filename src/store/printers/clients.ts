import type { KeptChange } from "../../domain/deletion.ts";
import { missingRecord, UserError } from "../../domain/errors.ts";
import type { Client, ClientSettings } from "../../domain/printers/client.ts";
import type { ClientName, ListedClient } from "../../domain/printers/listings.ts";
import { nameKey } from "../../domain/text.ts";
import type { Database } from "../database/database.ts";
import { digestIn, type Row, readRow } from "../database/rows.ts";
import { type DeletedFile, keepDeleted, keepFiles, type References, type Removal } from "../deletions.ts";
import { keepEarlier } from "../kept-changes.ts";
import { checkBytes, checkRoom } from "../record-limits.ts";

/** All SQL about clients. */
export class Clients {
  readonly #db: Database;
  readonly #clock: () => number;

  constructor(db: Database, clock: () => number) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Ordered by name. */
  list(): ListedClient[] {
    const rows = this.#db.all(`SELECT clients.*, count(printers.id) AS printer_count FROM clients
      LEFT JOIN printers ON printers.client_id = clients.id GROUP BY clients.id ORDER BY clients.name_key`);
    return rows.map((row) => ({ ...clientOf(row), printer_count: Number(row.printer_count) }));
  }

  /** Ordered by name. */
  names(): ClientName[] {
    const rows = this.#db.all("SELECT id, name FROM clients ORDER BY name_key");
    return rows.map(({ id, name }) => ({ id: Number(id), name: String(name) }));
  }

  count(): number {
    return Number(this.#db.first("SELECT count(*) AS n FROM clients")?.n);
  }

  find(id: number): Client | undefined {
    const row = this.#db.first("SELECT * FROM clients WHERE id = ?", [id]);
    return row && clientOf(row);
  }

  /** @throws UserError "not-found" */
  get(id: number): Client {
    const client = this.find(id);
    if (client === undefined) throw missingRecord("Client", id);
    return client;
  }

  /** @throws UserError "conflict" where another client has the name, in any case, or "full" */
  add(settings: ClientSettings): Promise<number> {
    return this.#db.write(() => this.insert(settings));
  }

  /** The same as `add`, within a write. */
  insert(settings: ClientSettings): number {
    this.#checkName(settings.name, 0);
    const row = this.#db.first(
      `INSERT INTO clients (${columns.join()}, created_at) VALUES (${columns.map(() => "?").join()}, ?) RETURNING id`,
      [...valuesOf(settings), this.#clock()],
    );
    checkRoom(this.#db);
    return Number(row?.id);
  }

  /**
   * @param change makes the new settings from the saved client within the write
   * @throws UserError "not-found", or "conflict" where another client has the name; and what `change` throws
   */
  update(id: number, change: (saved: Client) => ClientSettings): Promise<KeptChange> {
    return this.#db.write(() => {
      const client = this.get(id);
      const settings = change(client);
      this.#checkName(settings.name, id);
      const kept = this.#set(client, columns, valuesOf(settings));
      checkBytes(this.#db);
      return kept;
    });
  }

  /**
   * Sets or removes the icon. The earlier file is kept as long as the change can be undone.
   * @throws UserError "not-found"
   */
  setIcon(id: number, icon: Client["icon"]): Promise<KeptChange> {
    return this.#db.write(() => {
      const client = this.get(id);
      const kept = this.#set(client, ["icon_sha256", "icon_size"], [icon?.sha256 ?? "", icon?.size ?? 0]);
      if (typeof kept === "number") keepFiles(this.#db, kept, iconFilesOf(client));
      return kept;
    });
  }

  /** Within a write: sets columns of a client. */
  #set({ id, name }: Client, names: readonly string[], values: readonly (string | number)[]): KeptChange {
    const record = { kind: "changed-client", recordId: id, name, table: "clients", ids: [id] } as const;
    const set = names.map((column) => `${column} = ?`).join();
    return keepEarlier(this.#db, this.#clock(), record, () => {
      this.#db.all(`UPDATE clients SET ${set} WHERE id = ?`, [...values, id]);
    });
  }

  /** @throws UserError "not-found", or "conflict" with the printers that the client still has */
  remove(id: number): Promise<Removal> {
    return this.#db.freeingWrite((isFinal) => {
      const client = this.get(id);
      const { name } = client;
      const users = this.#db.all("SELECT id, name FROM printers WHERE client_id = ? ORDER BY id", [id]);
      if (users.length > 0)
        throw inUseError(`The client “${name}”`, users, { kind: "client-printers", client: id });
      const rows = [["clients", "id", [id]]] as const;
      const deletion = { kind: "client", recordId: id, name, rows, files: iconFilesOf(client) } as const;
      const removal = keepDeleted(this.#db, this.#clock(), deletion, isFinal);
      this.#db.all("DELETE FROM clients WHERE id = ?", [id]);
      return removal;
    });
  }

  /** The ids and names of these clients, to keep with deleted records that refer to them. */
  references(ids: readonly number[]): References["clients"] {
    return ids.flatMap((id) => this.find(id) ?? []).map(({ id, name }) => ({ id, name }));
  }

  /** Ignores the case of the name. */
  findByName(name: string): ClientName | undefined {
    const row = this.#db.first("SELECT * FROM clients WHERE name_key = ?", [nameKey(name)]);
    return row && clientOf(row);
  }

  /** Reads every row when the service starts. @throws Error with the first unreadable row */
  check(): void {
    for (const row of this.#db.all("SELECT * FROM clients ORDER BY id"))
      readRow(`the client ${row.id}`, () => clientOf(row));
  }

  #checkName(name: string, except: number): void {
    const taken = this.#db.first("SELECT name FROM clients WHERE name_key = ? AND id <> ?", [
      nameKey(name),
      except,
    ]);
    if (taken === undefined) return;
    const message = `Client “${taken.name}” already exists. Choose another name.`;
    throw new UserError("conflict", message, { name: message });
  }
}

/** Only the first printers are linked. */
const maxLinked = 20;

type InUseRemedy =
  | { readonly kind: "client-printers"; readonly client: number }
  | { readonly kind: "move"; readonly driver: number };

/**
 * The error for a record that printers still use.
 * @param users the printers, as rows with `id` and `name`
 * @param changeRemedy leads to a page where these printers can be changed
 */
export function inUseError(what: string, users: readonly Row[], changeRemedy: InUseRemedy): UserError {
  const names = users.slice(0, 5).map((row) => `“${row.name}”`);
  const rest = users.length > 5 ? ` and ${users.length - 5} more` : "";
  const sentence = `${what} was not deleted. Change or delete the printers that use it first`;
  const records = users.slice(0, maxLinked).map(({ id, name }) => {
    return { kind: "printer", id: Number(id), name: String(name) } as const;
  });
  return new UserError(
    "conflict",
    `${sentence}: ${names.join(", ")}${rest}.`,
    {},
    {
      obstacles: {
        sentence,
        records,
        more: users.length - records.length,
      },
      remedies: [{ ...changeRemedy, count: users.length }],
    },
  );
}

const texts = ["name", "notes", "tenant_id", "app_name", "app_owner", "app_notes"] as const;
const columns = [...texts, "name_key", "subnets"];

function valuesOf(settings: ClientSettings): string[] {
  const values = texts.map((name) => settings[name]);
  return [...values, nameKey(settings.name), settings.subnets.join("\n")];
}

/** @throws Error if it is no digest */
function iconDigestIn(row: Row): string {
  return digestIn({ sha256: row.icon_sha256 ?? null });
}

function iconFilesOf({ icon }: Client): DeletedFile[] {
  return icon ? [{ kind: "icons", sha256: icon.sha256 }] : [];
}

function clientOf(row: Row): Client {
  const values = Object.fromEntries(texts.map((name) => [name, String(row[name])]));
  return {
    ...(values as Record<(typeof texts)[number], string>),
    id: Number(row.id),
    icon: row.icon_sha256 === "" ? undefined : { sha256: iconDigestIn(row), size: Number(row.icon_size) },
    subnets: String(row.subnets).split("\n").filter(Boolean),
    created_at: Number(row.created_at),
  };
}
