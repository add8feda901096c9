import { addTo, groupsBy } from "../../domain/collections.ts";
import { chooseDeployment } from "../../domain/deploy/deployment-choice.ts";
import type { ArchiveState, DriverSummary } from "../../domain/drivers/driver.ts";
import { uploadedAmong } from "../../domain/drivers/windows-drivers.ts";
import { UserError } from "../../domain/errors.ts";
import {
  driverFindings,
  type Finding,
  neighbourFindings,
  printerFindings,
  stateOf,
  worstFirst,
} from "../../domain/printers/findings.ts";
import type {
  ListedDriver,
  ListedPrinter,
  StatedDriver,
  StatedPrinter,
} from "../../domain/printers/listings.ts";
import { revisionsWith } from "../../pkg/scripts/revision.ts";
import type { Store } from "../../store/store.ts";
import type { DeploymentMemory } from "../deploy/deployment-memory.ts";
import type { ArchiveCheck } from "../drivers/archive-check.ts";
import { DriverVersions } from "../drivers/driver-versions.ts";

type Memory = Pick<DeploymentMemory, "latest" | "settle" | "version">;

/** All printers and drivers with their states. */
interface Everything {
  /** By client, those without one last, then by name. */
  readonly printers: readonly StatedPrinter[];
  /** Those that were uploaded, the newest first. */
  readonly drivers: readonly StatedDriver[];
  /** Those that Windows brings. */
  readonly windowsDrivers: readonly StatedDriver[];
}

/** By driver; a driver that has no archive is not in it. */
type Archives = ReadonlyMap<number, ArchiveState>;

/**
 * Printers and drivers with their states. A printer's state follows from its row, its drivers, their archives, what was
 * deployed of it, and the other printers of its client: the page of one printer reads that client's printers alone.
 * Records are read in one synchronous piece, so that all of them are of one state of the store.
 */
export class Overview {
  readonly #store: Store;
  readonly #archives: Pick<ArchiveCheck, "stateOf">;
  readonly #memory: Memory;
  /** With the listed printer, which is the same object until the printer changes. */
  readonly #revisions = new WeakMap<ListedPrinter["printer"], KnownRevision>();
  readonly #versions: DriverVersions;
  #known: { readonly key: string; readonly everything: Everything } | undefined;

  constructor(store: Store, archives: Pick<ArchiveCheck, "stateOf">, memory: Memory) {
    this.#store = store;
    this.#archives = archives;
    this.#memory = memory;
    this.#versions = new DriverVersions(store);
  }

  /** What lists show: the same objects until a record, an archive or a deployed revision changes. */
  async read(): Promise<Everything> {
    await this.#memory.settle();
    const archives = await this.#archivesOf(this.#store.drivers.summaries());
    const key = `${this.#store.version()} ${this.#memory.version} ${[...archives.values()].join()}`;
    if (this.#known?.key !== key) this.#known = { key, everything: this.#readAll(archives) };
    return this.#known.everything;
  }

  /**
   * A printer, and the printers that are deployed with it as one client's: none where it has no client.
   * @throws UserError "not-found"
   */
  async printer(
    id: number,
  ): Promise<{ readonly row: StatedPrinter; readonly siblings: readonly StatedPrinter[] }> {
    await this.#memory.settle();
    const rows = await this.#stated(this.#store.printers.withNeighbours([id]));
    const row = rows.find(({ printer }) => printer.id === id);
    if (row === undefined) throw new UserError("not-found", `There is no printer ${id}.`);
    return { row, siblings: row.client === undefined ? [] : chooseDeployment(rows).goesIn };
  }

  /** A client's printers, by name. */
  async ofClient(clientId: number): Promise<readonly StatedPrinter[]> {
    await this.#memory.settle();
    return this.#stated(this.#store.printers.ofClient(clientId));
  }

  /** Those of these printers that are there, by id. */
  async several(ids: readonly number[]): Promise<ReadonlyMap<number, StatedPrinter>> {
    await this.#memory.settle();
    const rows = this.#store.printers.withNeighbours(ids);
    const chosen = new Set(ids);
    const wanted = rows.filter(({ printer }) => chosen.has(printer.id));
    const stated = await this.#stated(rows, wanted);
    return new Map(stated.map((row) => [row.printer.id, row]));
  }

  /** A driver, and the printers of all clients that use it, in the order of `read`. @throws UserError "not-found" */
  async driver(
    id: number,
  ): Promise<{ readonly driver: StatedDriver; readonly printers: readonly StatedPrinter[] }> {
    const { printers, drivers, windowsDrivers } = await this.read();
    const driver = [...drivers, ...windowsDrivers].find((one) => one.id === id);
    if (driver === undefined) throw new UserError("not-found", `There is no driver ${id}.`);
    const users = printers.filter((row) => row.driver?.id === id || row.arm64Driver?.id === id);
    return { driver, printers: users };
  }

  /** Older versions of a driver that printers use, of whose models it has some, the newest first. */
  olderThan(driver: DriverSummary): ListedDriver[] {
    return this.#versions.olderThan(driver);
  }

  #readAll(archives: Archives): Everything {
    const [uploaded, windows] = [this.#store.drivers.list(), this.#store.drivers.windows()];
    const rows = this.#store.printers.list();
    const users = usersByDriver(rows);
    const stated = (driver: ListedDriver) =>
      statedDriver(driver, archives, users.get(driver.id) ?? [], this.#versions.newerThan(driver, uploaded));
    return {
      printers: statedPrinters(rows, rows, archives, this.#changed(rows)),
      drivers: uploaded.map(stated),
      windowsDrivers: windows.map(stated),
    };
  }

  /** @param rows all printers of the clients of those that are wanted */
  async #stated(rows: readonly ListedPrinter[], wanted = rows): Promise<StatedPrinter[]> {
    const changed = this.#changed(wanted);
    const archives = await this.#archivesOf(
      wanted.flatMap(({ driver, arm64Driver }) => [driver, arm64Driver]),
    );
    return statedPrinters(rows, wanted, archives, changed);
  }

  /** The ids of printers of which another revision was deployed than they are now. */
  #changed(rows: readonly ListedPrinter[]): ReadonlySet<number> {
    const deployed = rows.filter((row): row is Deployable => {
      return row.driver !== undefined && this.#memory.latest(row.printer.id) !== undefined;
    });
    const unknown = deployed.filter((row) => this.#revisions.get(row.printer)?.drivers !== keyOf(row));
    for (const [drivers, group] of groupsBy(unknown, keyOf)) this.#calculate(drivers, group);
    const changed = deployed.filter(({ printer }) => {
      return this.#memory.latest(printer.id)?.revision !== this.#revisions.get(printer)?.revision;
    });
    return new Set(changed.map(({ printer }) => printer.id));
  }

  /** @param group printers of the same drivers, whose reports are read once and not kept: they may be large */
  #calculate(key: string, group: readonly Deployable[]): void {
    const [first] = group;
    if (first === undefined) return;
    const { drivers, printers } = this.#store;
    const arm64 = first.arm64Driver && drivers.get(first.arm64Driver.id);
    const revisionOf = revisionsWith(drivers.get(first.driver.id), arm64);
    const rows = new Map(group.map(({ printer }) => [printer.id, printer]));
    for (const whole of printers.several([...rows.keys()])) {
      const listed = rows.get(whole.id);
      if (listed !== undefined) this.#revisions.set(listed, { drivers: key, revision: revisionOf(whole) });
    }
  }

  async #archivesOf(drivers: readonly (DriverSummary | undefined)[]): Promise<Archives> {
    const states = uploadedAmong(drivers).map(
      async (driver) => [driver.id, await this.#archives.stateOf(driver)] as const,
    );
    return new Map(await Promise.all(states));
  }
}

function usersByDriver(rows: readonly ListedPrinter[]): Map<number, ListedPrinter[]> {
  const users = new Map<number, ListedPrinter[]>();
  for (const row of rows) {
    for (const used of [row.driver, row.arm64Driver]) if (used !== undefined) addTo(users, used.id, row);
  }
  return users;
}

function statedDriver(
  driver: ListedDriver,
  archives: Archives,
  users: readonly ListedPrinter[],
  newer: DriverSummary | undefined,
): StatedDriver {
  const clients = new Set(users.map(({ client }) => client?.id ?? "none"));
  return stated({ ...driver, clients, newer }, driverFindings(driver, archives.get(driver.id) ?? "sound"));
}

/** @param changed the ids of printers that were deployed as they are no more */
function statedPrinters(
  rows: readonly ListedPrinter[],
  wanted: readonly ListedPrinter[],
  archives: Archives,
  changed: ReadonlySet<number>,
): StatedPrinter[] {
  const ofNeighbours = neighbourFindings(rows);
  const archiveOf = (driver: DriverSummary | undefined) => archives.get(driver?.id ?? 0) ?? "sound";
  return wanted.map((row) => {
    const { printer, driver, arm64Driver } = row;
    const arm64 = arm64Driver && { driver: arm64Driver, archive: archiveOf(arm64Driver) };
    const own = printerFindings(printer, driver, archiveOf(driver), arm64);
    const findings = worstFirst([...own, ...(ofNeighbours.get(printer.id) ?? [])]);
    return stated({ ...row, changed: changed.has(printer.id) }, findings);
  });
}

function stated<T>(record: T, findings: readonly Finding[]) {
  return { ...record, state: stateOf(findings), findings };
}

/** A revision, with all that can change of the drivers that it was calculated from. */
interface KnownRevision {
  readonly drivers: string;
  readonly revision: string;
}

/** A printer that has a driver. */
type Deployable = ListedPrinter & { readonly driver: DriverSummary };

/** All of the drivers that a revision is made of; a report changes with its archive alone. */
function keyOf({ driver, arm64Driver }: Deployable): string {
  return JSON.stringify([partsOf(driver), arm64Driver && partsOf(arm64Driver)]);
}

function partsOf({ id, sha256, inf_path, driver_desc, trust_publisher }: DriverSummary) {
  return [id, sha256, inf_path, driver_desc, trust_publisher];
}
