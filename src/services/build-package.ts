import { crc32 } from "node:zlib";
import type { Client } from "../domain/client.ts";
import { type Driver, driverNeeds, driverTitle } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import { type Archive, readArchive } from "../pkg/archive.ts";
import type { Contents, DriverFiles, IconFile, LaidOutZip } from "../pkg/contents.ts";
import { type Deployable, type Deployment, deploymentOf, deploymentOfMany } from "../pkg/deployment.ts";
import { slug } from "../pkg/file-names.ts";
import type { PackageFile, PackageFormat, Workshop } from "../pkg/format.ts";
import { type Seal, type SealKeys, sealedChunkBytes } from "../pkg/intunewin.ts";
import { fillFromLayout } from "../pkg/layout.ts";
import { type FileSource, openSource } from "../store/files.ts";
import type { PrinterListing } from "../store/printers.ts";
import type { Store } from "../store/store.ts";
import type { Workers } from "./workers.ts";

/** A package with what a download says of it. */
export interface NamedPackage {
  readonly file: PackageFile;
  readonly fileName: string;
  /** When anything that goes into it changed last; UTC, milliseconds since 1970. */
  readonly modifiedAt: number;
}

const readBytes = 512 * 1024;
const rememberedSeals = 64;
const rememberedArchives = 32;
const sealedDownloadLimit = 32;
/** Chunks of a download that are sealed or waiting to be sent. */
const sealedAhead = 2;

/** Makes packages from what the store holds. Nothing is written for them. */
export class PackageBuilder {
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #archives = new Map<string, Promise<Archive>>();
  readonly #seals = new Map<string, Promise<Seal>>();
  #sealedDownloads = 0;

  constructor(store: Store, workers: Workers) {
    this.#store = store;
    this.#workers = workers;
  }

  /** One printer's package. @throws UserError "invalid" with the remedy when something is missing */
  async ofPrinter(format: PackageFormat, listing: PrinterListing): Promise<NamedPackage> {
    const deployable = this.deployable(listing);
    const contents = await this.#contents(deploymentOf(deployable), listing.printer.id);
    const name = [listing.client?.name ?? "", listing.printer.name].map(slug).filter(Boolean).join("-");
    return this.#named(format, contents, name || `printer-${listing.printer.id}`);
  }

  /** All printers of a client that have a driver, in one package. @throws UserError "invalid" */
  async ofClient(format: PackageFormat, client: Client): Promise<NamedPackage> {
    const listings = this.#store.printers.ofClient(client.id).filter(({ driver }) => driver !== undefined);
    if (listings.length === 0) {
      throw new UserError("invalid", `“${client.name}” has no printer with a driver yet: assign one first.`);
    }
    const deployables = listings.map((listing) => this.deployable(listing));
    const contents = await this.#contents(deploymentOfMany(client.name, deployables), undefined);
    return this.#named(format, contents, slug(client.name) || `client-${client.id}`);
  }

  /** A printer with a driver that can be deployed. @throws UserError "invalid" that says what is missing */
  deployable({ printer }: PrinterListing): Deployable {
    if (printer.driver_id === null) {
      throw new UserError("invalid", `“${printer.name}” has no driver: choose one on the printer’s page.`);
    }
    const driver = this.#store.drivers.get(printer.driver_id);
    const needs = driverNeeds({ ...driver, driver_desc: printer.driver_desc || driver.driver_desc });
    if (needs !== undefined) throw new UserError("invalid", needs);
    return { printer, driver };
  }

  #named(format: PackageFormat, contents: Contents, name: string): NamedPackage {
    const { printers } = contents.deployment;
    const icon = printers.length === 1 ? this.#store.icons.find(printers[0]?.printer.id ?? 0) : undefined;
    const times = printers.flatMap(({ printer, driver }) => [printer.updated_at, driver.updated_at]);
    return {
      file: format.build(contents, this.#workshop),
      fileName: format.fileName(name),
      modifiedAt: Math.max(...times, icon?.uploaded_at ?? 0),
    };
  }

  async #contents(deployment: Deployment, printerId: number | undefined): Promise<Contents> {
    const drivers = new Map(deployment.printers.map(({ driver }) => [driver.id, driver]));
    return {
      deployment,
      drivers: await Promise.all([...drivers.values()].map((driver) => this.#driverFiles(driver))),
      icon: printerId === undefined ? undefined : await this.#icon(printerId),
    };
  }

  async #driverFiles(driver: Driver): Promise<DriverFiles> {
    const path = this.#store.blobs.archivePath(driver.sha256);
    const source = await this.#store.blobs.open(path);
    if (source === undefined) {
      throw new UserError(
        "invalid",
        `The archive of “${driverTitle(driver)}” is missing on disk: upload ${driver.file_name} again to put it back.`,
      );
    }
    try {
      if (source.size !== driver.size) {
        throw new UserError(
          "invalid",
          `The archive of “${driverTitle(driver)}” is damaged on disk: upload ${driver.file_name} again to put it back.`,
        );
      }
      const known = this.#archives.get(driver.sha256);
      const archive = known ?? readArchive(source);
      remember(this.#archives, driver.sha256, archive, rememberedArchives);
      return { id: driver.id, path, sha256: driver.sha256, archive: await archive };
    } finally {
      await source.close();
    }
  }

  /** The printer's picture; a missing record or file is no reason to fail. */
  async #icon(printerId: number): Promise<IconFile | undefined> {
    const icon = this.#store.icons.find(printerId);
    if (icon === undefined) return undefined;
    const path = this.#store.blobs.iconPath(icon.sha256);
    const source = await this.#store.blobs.open(path);
    if (source === undefined) return undefined;
    try {
      const { sha256 } = icon;
      return { path, sha256, size: source.size, crc32: crc32(await source.read(0, source.size)) };
    } finally {
      await source.close();
    }
  }

  get #workshop(): Workshop {
    return {
      secret: this.#store.secret,
      read: (zip, start, end) => readZip(zip, start, end),
      measure: (zip, keys) => this.#measure(zip, keys),
      seal: (zip, keys, seal, from, to) => this.#seal(zip, keys, seal, from, to),
    };
  }

  #measure(zip: LaidOutZip, keys: SealKeys): Promise<Seal> {
    const key = zip.digest.toString("hex");
    const known = this.#seals.get(key);
    if (this.#sealedDownloads >= sealedDownloadLimit) {
      throw new UserError(
        "busy",
        "Too many packages are being downloaded at the moment. Try again in a few seconds.",
      );
    }
    const seal = known ?? this.#workers.measure({ ...workerInput(zip), keys });
    remember(this.#seals, key, seal, rememberedSeals);
    return seal;
  }

  /** Asks for a few chunks ahead, so that both threads seal while others are sent. */
  async *#seal(
    zip: LaidOutZip,
    keys: SealKeys,
    seal: Seal,
    from: number,
    to: number,
  ): AsyncGenerator<Uint8Array> {
    const room = () => new Uint8Array(new SharedArrayBuffer(sealedChunkBytes));
    this.#sealedDownloads++;
    try {
      yield* ahead(sealedAhead, to - from, room, async (i, sealed) => {
        const index = from + i;
        const state = seal.checkpoints.slice(index * 16, index * 16 + 16);
        const length = await this.#workers.seal({ ...workerInput(zip), keys, state, index, sealed });
        return sealed.subarray(0, length);
      });
    } finally {
      this.#sealedDownloads--;
    }
  }
}

/**
 * Yields what `make` fills for 0, 1, … in order, with so many of them under way at a time, each in a room
 * of its own. A yielded piece is the caller's until it asks for the next one; then its room is used again.
 */
async function* ahead(
  width: number,
  count: number,
  room: () => Uint8Array,
  make: (i: number, room: Uint8Array) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const waiting: { readonly room: Uint8Array; readonly work: Promise<Uint8Array> }[] = [];
  const start = (i: number, place: Uint8Array) => {
    const work = make(i, place);
    work.catch(() => {});
    waiting.push({ room: place, work });
  };
  try {
    for (let i = 0; i < Math.min(width, count); i++) start(i, room());
    for (let i = 0; i < count; i++) {
      const next = waiting.shift();
      if (next === undefined) return;
      yield await next.work;
      if (i + width < count) start(i + width, next.room);
    }
  } finally {
    await Promise.allSettled(waiting.map(({ work }) => work));
  }
}

function workerInput({ layout, sources }: LaidOutZip) {
  return { layout, files: sources.map((source) => source.path) };
}

/** Keeps a promise under a key, the least recently used ones forgotten, and one that fails at once. */
function remember<T>(memory: Map<string, Promise<T>>, key: string, value: Promise<T>, limit: number): void {
  memory.delete(key);
  memory.set(key, value);
  value.catch(() => {
    if (memory.get(key) === value) memory.delete(key);
  });
  const oldest = memory.keys().next().value;
  if (memory.size > limit && oldest !== undefined) memory.delete(oldest);
}

/** Reads one piece ahead, so that the disk and the network work at the same time. */
async function* readZip(
  { layout, sources }: LaidOutZip,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  const open: FileSource[] = [];
  try {
    for (const source of sources) open.push(await openSource(source.path));
    const room = () => Buffer.allocUnsafeSlow(readBytes);
    yield* ahead(2, Math.ceil((end - start) / readBytes), room, async (i, buffer) => {
      const at = start + i * readBytes;
      const piece = buffer.subarray(0, Math.min(readBytes, end - at));
      await fillFromLayout(layout, open, at, piece);
      return piece;
    });
  } finally {
    await Promise.all(open.map((source) => source.close()));
  }
}
