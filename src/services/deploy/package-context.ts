import {
  type Contents,
  contentsKey,
  type DriverFiles,
  driverFolders,
  driversKey,
  type LaidOutDrivers,
  type LaidOutFile,
  type LaidOutZip,
  packageTail,
  sourcesOf,
} from "../../pkg/formats/contents.ts";
import type { EncryptingZip, OpenPackage, PackageContext } from "../../pkg/formats/format.ts";
import type { Store } from "../../store/store.ts";
import type { Workers } from "../../workers/pool.ts";
import { openSources, withSources } from "../drivers/source-files.ts";
import { EncryptedOnThreads, nameOf, openPlain } from "./open-zip.ts";
import { PackageCaches } from "./package-caches.ts";

/** Lays out and opens packages; long work is done on other threads, and remembered. */
export class StoredPackageContext implements PackageContext {
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #caches = new PackageCaches();

  constructor(store: Store, workers: Workers) {
    this.#store = store;
    this.#workers = workers;
  }

  get secret(): Uint8Array {
    return this.#store.secret;
  }

  /** @throws UserError "invalid" when an archive is missing or damaged */
  async layOut(contents: Contents): Promise<LaidOutZip> {
    const end = packageTail(contents);
    const key = contentsKey(driverFolders(contents), end);
    const drivers = await this.#layOutDrivers(contents.drivers);
    const described = await this.#caches.layouts.get(key, () => this.#workers.layOut({ drivers, end }));
    return { ...described, drivers, sources: sourcesOf(contents) };
  }

  async openPlain(file: LaidOutFile): Promise<OpenPackage> {
    return openPlain(file, await openSources(this.#store.blobs, file.sources));
  }

  async openForEncryption(zip: LaidOutZip): Promise<EncryptingZip> {
    const files = await openSources(this.#store.blobs, zip.sources);
    return new EncryptedOnThreads(zip, files, this.#workers, this.#caches);
  }

  /** SHA-256 of a whole ZIP, in hex; remembered. */
  digest(zip: LaidOutZip): Promise<string> {
    return this.#caches.digests.get(nameOf(zip.digest), () =>
      withSources(this.#store.blobs, zip.sources, async (files) =>
        nameOf(await this.#workers.digest({ layout: zip.layout, files })),
      ),
    );
  }

  #layOutDrivers(drivers: readonly DriverFiles[]): Promise<LaidOutDrivers> {
    const folders = driverFolders({ drivers });
    return this.#caches.drivers.get(driversKey(folders), () =>
      withSources(this.#store.blobs, drivers, (archives) =>
        this.#workers.layOutDrivers({ drivers: folders, archives }),
      ),
    );
  }
}
