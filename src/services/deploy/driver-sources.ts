import { type Driver, driverTitle } from "../../domain/drivers/driver.ts";
import { isWindowsOwn } from "../../domain/drivers/windows-drivers.ts";
import { UserError } from "../../domain/errors.ts";
import type { DriverFiles, LaidOutZip } from "../../pkg/formats/contents.ts";
import type { FilesDownload } from "../../pkg/scripts/driver-settings.ts";
import type { Store } from "../../store/store.ts";
import { type ArchiveCheck, archiveRefusal } from "../drivers/archive-check.ts";
import { wantedOf } from "../drivers/source-files.ts";
import type { StoredPackageContext } from "./package-context.ts";

/** Where a driver's files are to be fetched, by its id. */
export type FilesUrl = (driverId: number) => string;

/** The files of drivers, for packages and for scripts that fetch them. */
export class DriverSources {
  readonly #store: Store;
  readonly #archives: ArchiveCheck;
  readonly #context: StoredPackageContext;

  constructor(store: Store, archives: ArchiveCheck, context: StoredPackageContext) {
    this.#store = store;
    this.#archives = archives;
    this.#context = context;
  }

  /** What goes into a folder of a package. @throws UserError "invalid" when the archive is missing or damaged */
  async files(driver: Driver, folder: string): Promise<DriverFiles> {
    if (isWindowsOwn(driver))
      throw new UserError("invalid", `Windows brings “${driverTitle(driver)}”: there are no files of it.`);
    const version = await this.#archives.require(driver);
    const { sha256, size } = driver;
    const path = this.#store.blobs.pathOf("drivers", sha256);
    const refusal: DriverFiles["refusal"] = (problem) => archiveRefusal(driver, problem);
    return { path, sha256, size, version, folder, ...wantedOf(driver), refusal };
  }

  /** A ZIP of the driver's files alone. @throws as `files` does */
  async layOut(driver: Driver): Promise<LaidOutZip> {
    const drivers = [await this.files(driver, "")];
    return this.#context.layOut({ settings: undefined, drivers, icon: undefined });
  }

  /**
   * Where a driver's files are for a script that is fetched alone. An archive that is missing or damaged has no
   * digest: the script works all the same on a machine that has the driver, and fails at the download where it has not.
   */
  async download(driver: Driver, filesUrl: FilesUrl): Promise<FilesDownload> {
    const url = filesUrl(driver.id);
    try {
      return { url, sha256: await this.#context.digest(await this.layOut(driver)) };
    } catch (error) {
      if (error instanceof UserError && error.code === "invalid") return { url, sha256: "" };
      throw error;
    }
  }
}
