import type { ArchiveState, DriverSummary } from "../domain/driver.ts";
import { driverFindings, type Finding, printerFindings, stateOf, worstFirst } from "../domain/findings.ts";
import { addTo } from "../domain/groups.ts";
import type { ListedDriver, ListedPrinter, StatedDriver, StatedPrinter } from "../domain/listings.ts";
import { twinFindings } from "../domain/twins.ts";
import type { Store } from "../store/store.ts";
import type { ArchiveCheck } from "./archive-check.ts";
import type { DeploymentMemory } from "./deployment-memory.ts";
import { NewerVersions } from "./driver-versions.ts";
import { Revisions } from "./revisions.ts";

type Memory = Pick<DeploymentMemory, "latest" | "settle" | "version">;

/** All printers and drivers with their states, as they were at one moment. */
interface Snapshot {
  /** By client, those without one last, then by name. */
  readonly printers: readonly StatedPrinter[];
  readonly printersById: ReadonlyMap<number, StatedPrinter>;
  /** Those that were uploaded, the newest first. */
  readonly drivers: readonly StatedDriver[];
  /** Those that Windows brings. */
  readonly windowsDrivers: readonly StatedDriver[];
  /** Both. */
  readonly driversById: ReadonlyMap<number, StatedDriver>;
}

/**
 * What lists show: every printer and driver with its state. It is put together once after each change of a record or
 * an archive; until then the same objects are answered again, so that who makes something of them can remember it.
 */
export class Overview {
  readonly #store: Store;
  readonly #archives: Pick<ArchiveCheck, "stateOf">;
  readonly #memory: Memory;
  readonly #revisions: Revisions;
  readonly #newer: NewerVersions;
  #known: { readonly key: string; readonly snapshot: Promise<Snapshot> } | undefined;

  constructor(store: Store, archives: Pick<ArchiveCheck, "stateOf">, memory: Memory) {
    this.#store = store;
    this.#archives = archives;
    this.#memory = memory;
    this.#revisions = new Revisions(store);
    this.#newer = new NewerVersions(store);
  }

  async read(): Promise<Snapshot> {
    await this.#memory.settle();
    const drivers = this.#store.drivers.list();
    const states = await Promise.all(drivers.map((driver) => this.#archives.stateOf(driver)));
    const key = `${this.#store.version()} ${this.#memory.version} ${states.join()}`;
    if (this.#known?.key === key) return this.#known.snapshot;
    const archives = new Map(drivers.map(({ id }, i) => [id, states[i] ?? "missing"] as const));
    const snapshot = this.#store.atOneMoment(() => this.#make(archives)).then(({ value }) => value);
    this.#known = { key, snapshot };
    snapshot.catch(() => {
      if (this.#known?.snapshot === snapshot) this.#known = undefined;
    });
    return snapshot;
  }

  *#make(archives: ReadonlyMap<number, ArchiveState>): Generator<undefined, Snapshot> {
    const drivers = this.#store.drivers.list();
    const windowsDrivers = this.#store.drivers.windows();
    yield;
    const printers = yield* this.#store.printers.listInParts();
    const changed = yield* this.#changed(printers);
    const newer = yield* this.#newer.among(drivers, printers);
    return yield* snapshotOf({ drivers, windowsDrivers, printers, archives, changed, newer });
  }

  /** The ids of printers of which another revision was deployed than they are now. */
  *#changed(rows: readonly ListedPrinter[]): Generator<undefined, Set<number>> {
    const deployed = rows.filter(({ printer }) => this.#memory.latest(printer.id) !== undefined);
    const changed = new Set<number>();
    for (const part of inParts(deployed)) {
      for (const [id, now] of this.#revisions.of(part))
        if (this.#memory.latest(id)?.revision !== now) changed.add(id);
      yield;
    }
    return changed;
  }
}

/** Others may come in between two parts. */
function* inParts<T>(rows: readonly T[]): Generator<readonly T[]> {
  const partRows = 250;
  for (let from = 0; from < rows.length; from += partRows) yield rows.slice(from, from + partRows);
}

/** What was read at one moment. */
interface Facts {
  readonly drivers: readonly ListedDriver[];
  readonly windowsDrivers: readonly ListedDriver[];
  readonly printers: readonly ListedPrinter[];
  /** Of those that have one. */
  readonly archives: ReadonlyMap<number, ArchiveState>;
  /** The ids of printers that were deployed as they are no more. */
  readonly changed: ReadonlySet<number>;
  /** By the older driver's id. */
  readonly newer: ReadonlyMap<number, ListedDriver>;
}

function* snapshotOf({
  printers: listed,
  archives,
  changed,
  newer,
  ...facts
}: Facts): Generator<undefined, Snapshot> {
  const archiveOf = ({ id }: DriverSummary) => archives.get(id) ?? "sound";
  const clients = clientsByDriver(listed);
  const statedDriver = (driver: ListedDriver) => {
    const findings = driverFindings(driver, archiveOf(driver));
    const users = { clients: new Set(clients.get(driver.id)), newer: newer.get(driver.id) };
    return stated({ ...driver, ...users }, findings);
  };
  const drivers = facts.drivers.map(statedDriver);
  const windowsDrivers = facts.windowsDrivers.map(statedDriver);
  yield;
  const twins = twinsOf(listed);
  yield;
  const statedPrinter = (row: ListedPrinter) => {
    const { printer, driver, arm64Driver } = row;
    const archive = driver === undefined ? "sound" : archiveOf(driver);
    const arm64 = arm64Driver && { driver: arm64Driver, archive: archiveOf(arm64Driver) };
    const own = printerFindings(printer, driver, archive, arm64);
    const findings = worstFirst([...own, ...(twins.get(printer.id) ?? [])]);
    return stated({ ...row, changed: changed.has(printer.id) }, findings);
  };
  const printers: ReturnType<typeof statedPrinter>[] = [];
  for (const part of inParts(listed)) {
    for (const row of part) printers.push(statedPrinter(row));
    yield;
  }
  return {
    printers,
    printersById: new Map(printers.map((row) => [row.printer.id, row])),
    drivers,
    windowsDrivers,
    driversById: new Map([...drivers, ...windowsDrivers].map((driver) => [driver.id, driver])),
  };
}

function stated<T>(record: T, findings: readonly Finding[]) {
  return { ...record, state: stateOf(findings), findings };
}

/** Whose printers use which driver; a client as often as it has printers with it. */
function clientsByDriver(rows: readonly ListedPrinter[]): Map<number, (number | "none")[]> {
  const users = new Map<number, (number | "none")[]>();
  for (const { client, driver, arm64Driver } of rows) {
    for (const used of [driver, arm64Driver]) {
      if (used !== undefined) addTo(users, used.id, client?.id ?? "none");
    }
  }
  return users;
}

/** Printers without a client are nobody's neighbours. */
function twinsOf(rows: readonly ListedPrinter[]): Map<number, Finding[]> {
  const byClient = new Map<number, ListedPrinter["printer"][]>();
  for (const { printer, client } of rows) if (client !== undefined) addTo(byClient, client.id, printer);
  return new Map([...byClient.values()].flatMap((printers) => [...twinFindings(printers)]));
}
