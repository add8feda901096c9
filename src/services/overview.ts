import { addTo, groupBy } from "../domain/collections.ts";
import { chooseDeployment } from "../domain/deploy/deployment-choice.ts";
import type { ArchiveState, DriverSummary } from "../domain/drivers/driver.ts";
import { uploadedDrivers } from "../domain/drivers/windows-drivers.ts";
import { missingRecord } from "../domain/errors.ts";
import { type ChangeEffects, changeEffects, type PrinterChange } from "../domain/printers/change-effects.ts";
import {
  driverFindings,
  type Finding,
  neighbourFindings,
  preferencesFindings,
  printerFindings,
  stateOf,
  worstFirst,
} from "../domain/printers/findings.ts";
import type {
  ClientName,
  DriverWithState,
  ListedDriver,
  ListedPrinter,
  OfferedDriver,
  PrinterWithState,
} from "../domain/printers/listings.ts";
import { revisionsWith } from "../pkg/scripts/revision.ts";
import type { Store } from "../store/store.ts";
import type { DeploymentMemory } from "./deploy/deployment-memory.ts";
import type { ArchiveCheck } from "./drivers/archive-check.ts";
import { DriverVersions } from "./drivers/driver-versions.ts";

type Memory = Pick<DeploymentMemory, "lastDeployed" | "version">;

interface PrintersAndDrivers {
  /** Ordered by client (printers without one last), then by name. */
  readonly printers: readonly PrinterWithState[];
  /** Uploaded drivers, the newest first. */
  readonly drivers: readonly DriverWithState[];
  /** Drivers that are part of Windows. */
  readonly windowsDrivers: readonly DriverWithState[];
}

/** By driver id. Drivers without an archive are missing. */
type Archives = ReadonlyMap<number, ArchiveState>;

/**
 * Printers and drivers with their states. A printer's state depends on its row, its drivers, their archives, its last
 * deployment, and the other printers of its client, so the page of a printer reads only that client's printers. A
 * download counts when its line in the audit log is written, so each method waits for that. It reads its records
 * synchronously, so they are consistent.
 */
export class Overview {
  readonly #store: Store;
  readonly #archives: Pick<ArchiveCheck, "knownStateOf">;
  readonly #memory: Memory;
  /** Keyed by the listed printer, which is the same object until the printer changes. */
  readonly #revisions = new WeakMap<ListedPrinter["printer"], CachedRevision>();
  readonly #versions: DriverVersions;
  #cached: { readonly key: string; readonly everything: PrintersAndDrivers } | undefined;

  constructor(store: Store, archives: Pick<ArchiveCheck, "knownStateOf">, memory: Memory) {
    this.#store = store;
    this.#archives = archives;
    this.#memory = memory;
    this.#versions = new DriverVersions(store);
  }

  /** Returns the same objects until a record, an archive or a deployed revision changes. */
  async read(): Promise<PrintersAndDrivers> {
    await this.#store.audit.waitForEvents();
    const archives = await this.#archivesOf(this.#store.drivers.summaries());
    const key = `${this.#store.version()} ${this.#memory.version} ${[...archives.values()].join()}`;
    if (this.#cached?.key !== key) this.#cached = { key, everything: this.#readAll(archives) };
    return this.#cached.everything;
  }

  /** All drivers to choose from. It reads no printers, so a state is that of a driver without any. */
  async offeredDrivers(): Promise<OfferedDriver[]> {
    const drivers = this.#store.drivers.summaries();
    const archives = await this.#archivesOf(drivers);
    return drivers.map((driver) =>
      withState(driver, driverFindings(driver, archives.get(driver.id) ?? "sound", false)),
    );
  }

  /**
   * A printer, and the printers that are deployed together with it for its client. Without a client, there are none.
   * @throws UserError "not-found"
   */
  async printer(
    id: number,
  ): Promise<{ readonly row: PrinterWithState; readonly siblings: readonly PrinterWithState[] }> {
    await this.#store.audit.waitForEvents();
    const rows = await this.#withState(this.#store.printers.ofSameClients([id]));
    const row = rows.find(({ printer }) => printer.id === id);
    if (row === undefined) throw missingRecord("Printer", id);
    return { row, siblings: row.client === undefined ? [] : chooseDeployment(rows).included };
  }

  /** Ordered by name. */
  async ofClient(clientId: number): Promise<readonly PrinterWithState[]> {
    await this.#store.audit.waitForEvents();
    return this.#withState(this.#store.printers.ofClient(clientId));
  }

  /** By id. Unknown ids are left out. */
  async findMany(ids: readonly number[]): Promise<ReadonlyMap<number, PrinterWithState>> {
    await this.#store.audit.waitForEvents();
    const rows = this.#store.printers.ofSameClients(ids);
    const chosen = new Set(ids);
    const wanted = rows.filter(({ printer }) => chosen.has(printer.id));
    const found = await this.#withState(rows, wanted);
    return new Map(found.map((row) => [row.printer.id, row]));
  }

  /** A driver, with the printers that use it in the order of `read`. @throws UserError "not-found" */
  async driver(
    id: number,
  ): Promise<{ readonly driver: DriverWithState; readonly printers: readonly PrinterWithState[] }> {
    const { printers, drivers, windowsDrivers } = await this.read();
    const driver = [...drivers, ...windowsDrivers].find((one) => one.id === id);
    if (driver === undefined) throw missingRecord("Driver", id);
    const users = printers.filter((row) => row.driver?.id === id || row.arm64Driver?.id === id);
    return { driver, printers: users };
  }

  /** The effects that a change of these printers would have, by printer id. */
  async effectsOf(changes: ReadonlyMap<number, PrinterChange>): Promise<ChangeEffects> {
    const { printers } = await this.read();
    const drivers = this.#store.drivers.summaries();
    const archives = await this.#archivesOf(drivers);
    const changed = printersChanger(this.#store.clients.names(), drivers, changes);
    const before = printers.filter(({ printer }) => changes.has(printer.id));
    const rows = printers.map(changed);
    const wanted = rows.filter(({ printer }) => changes.has(printer.id));
    return changeEffects(before, printersWithState(rows, wanted, archives, new Set()));
  }

  /** Older versions in use that share models with a driver, the newest first. */
  olderThan(driver: DriverSummary): ListedDriver[] {
    return this.#versions.olderThan(driver);
  }

  #readAll(archives: Archives): PrintersAndDrivers {
    const [uploaded, windows] = [this.#store.drivers.list(), this.#store.drivers.windowsDrivers()];
    const rows = this.#store.printers.list();
    const users = usersByDriver(rows);
    const listed = (driver: ListedDriver) =>
      driverWithState(driver, archives, users, this.#versions.newerThan(driver, uploaded));
    return {
      printers: printersWithState(rows, rows, archives, this.#changed(rows)),
      drivers: uploaded.map(listed),
      windowsDrivers: windows.map(listed),
    };
  }

  /** @param rows all printers of the clients of the wanted printers */
  async #withState(rows: readonly ListedPrinter[], wanted = rows): Promise<PrinterWithState[]> {
    const changed = this.#changed(wanted);
    const archives = await this.#archivesOf(
      wanted.flatMap(({ driver, arm64Driver }) => [driver, arm64Driver]),
    );
    return printersWithState(rows, wanted, archives, changed);
  }

  /** The ids of printers whose deployed revision differs from the current one. */
  #changed(rows: readonly ListedPrinter[]): ReadonlySet<number> {
    const deployed = rows.filter((row): row is WithDriver => {
      return row.driver !== undefined && this.#memory.lastDeployed(row.printer.id) !== undefined;
    });
    const unknown = deployed.filter((row) => this.#revisions.get(row.printer)?.drivers !== keyOf(row));
    for (const [drivers, group] of groupBy(unknown, keyOf)) this.#calculateRevisions(drivers, group);
    const changed = deployed.filter(({ printer }) => {
      return this.#memory.lastDeployed(printer.id)?.revision !== this.#revisions.get(printer)?.revision;
    });
    return new Set(changed.map(({ printer }) => printer.id));
  }

  /** @param group printers with the same `keyOf`. Driver reports may be large: they are read once and not cached. */
  #calculateRevisions(key: string, group: readonly WithDriver[]): void {
    const [first] = group;
    if (first === undefined) return;
    const { drivers, printers } = this.#store;
    const arm64 = first.arm64Driver && drivers.get(first.arm64Driver.id);
    const revisionOf = revisionsWith(drivers.get(first.driver.id), arm64);
    const rows = new Map(group.map(({ printer }) => [printer.id, printer]));
    for (const whole of printers.findMany([...rows.keys()])) {
      const listed = rows.get(whole.id);
      if (listed !== undefined) this.#revisions.set(listed, { drivers: key, revision: revisionOf(whole) });
    }
  }

  async #archivesOf(drivers: readonly (DriverSummary | undefined)[]): Promise<Archives> {
    const states = uploadedDrivers(drivers).map(
      async (driver) => [driver.id, await this.#archives.knownStateOf(driver)] as const,
    );
    return new Map(await Promise.all(states));
  }
}

/** Makes a function that returns a row as it would be after the change of its printer. */
function printersChanger(
  clients: readonly ClientName[],
  drivers: readonly DriverSummary[],
  changes: ReadonlyMap<number, PrinterChange>,
): (row: ListedPrinter) => ListedPrinter {
  const clientById = new Map(clients.map((client) => [client.id, client]));
  const driverById = new Map(drivers.map((driver) => [driver.id, driver]));
  const driverOf = (id: number | null | undefined, before: DriverSummary | undefined) =>
    id === undefined ? before : driverById.get(id ?? 0);
  return (row) => {
    const change = changes.get(row.printer.id);
    if (change === undefined) return row;
    const { client_id, driver_id, arm64_driver_id, ...models } = change;
    return {
      printer: { ...row.printer, ...models },
      client: client_id === undefined ? row.client : clientById.get(client_id ?? 0),
      driver: driverOf(driver_id, row.driver),
      arm64Driver: driverOf(arm64_driver_id, row.arm64Driver),
    };
  };
}

function usersByDriver(rows: readonly ListedPrinter[]): Map<number, ListedPrinter[]> {
  const users = new Map<number, ListedPrinter[]>();
  for (const row of rows) {
    for (const used of [row.driver, row.arm64Driver]) if (used !== undefined) addTo(users, used.id, row);
  }
  return users;
}

function driverWithState(
  driver: ListedDriver,
  archives: Archives,
  users: ReadonlyMap<number, readonly ListedPrinter[]>,
  newer: DriverSummary | undefined,
): DriverWithState {
  const rows = users.get(driver.id) ?? [];
  const clients = new Set(rows.map(({ client }) => client?.id ?? "none"));
  const isModelUsed = rows.some((row) => usesOwnModel(row, driver));
  const findings = driverFindings(driver, archives.get(driver.id) ?? "sound", isModelUsed);
  return withState({ ...driver, clients, newer }, findings);
}

/** Whether a printer deploys the model that is set at the driver. */
function usesOwnModel({ printer, driver, arm64Driver }: ListedPrinter, { id }: DriverSummary): boolean {
  const isOwn = (used: DriverSummary | undefined, model: string) => used?.id === id && model === "";
  return isOwn(driver, printer.driver_desc) || isOwn(arm64Driver, printer.arm64_driver_desc);
}

/** @param changed the ids of printers whose deployed revision differs from the current one */
function printersWithState(
  rows: readonly ListedPrinter[],
  wanted: readonly ListedPrinter[],
  archives: Archives,
  changed: ReadonlySet<number>,
): PrinterWithState[] {
  const neighbours = neighbourFindings(rows);
  const archiveOf = (driver: DriverSummary | undefined) => archives.get(driver?.id ?? 0) ?? "sound";
  return wanted.map((row) => {
    const { printer, driver, arm64Driver } = row;
    const arm64 = arm64Driver && { driver: arm64Driver, archive: archiveOf(arm64Driver) };
    const own = printerFindings(printer, driver, archiveOf(driver), arm64);
    const others = [...preferencesFindings(row), ...(neighbours.get(printer.id) ?? [])];
    const findings = worstFirst([...own, ...others]);
    return withState({ ...row, changed: changed.has(printer.id) }, findings);
  });
}

function withState<T>(record: T, findings: readonly Finding[]) {
  return { ...record, state: stateOf(findings), findings };
}

interface CachedRevision {
  /** `keyOf` the drivers and preferences from which the revision was calculated. */
  readonly drivers: string;
  readonly revision: string;
}

/** A printer that has a driver. */
type WithDriver = ListedPrinter & { readonly driver: DriverSummary };

/** The properties of drivers and preferences that affect a revision. Reports change only with the archive. */
function keyOf({ driver, arm64Driver, preferences }: WithDriver): string {
  return JSON.stringify([partsOf(driver), arm64Driver && partsOf(arm64Driver), preferences?.sha256]);
}

function partsOf({ id, sha256, inf_path, driver_desc, trust_publisher, exact_version }: DriverSummary) {
  return [id, sha256, inf_path, driver_desc, trust_publisher, exact_version];
}
