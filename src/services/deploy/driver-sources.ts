import { type Driver, driverTitle } from "../../domain/drivers/driver.ts";
import { isWindowsDriver } from "../../domain/drivers/windows-drivers.ts";
import { UserError } from "../../domain/errors.ts";
import type { DriverFiles, LaidOutZip } from "../../pkg/formats/contents.ts";
import type { FilesDownload } from "../../pkg/scripts/driver-settings.ts";
import type { Store } from "../../store/store.ts";
import { type ArchiveCheck, archiveRefusal } from "../drivers/archive-check.ts";
import type { StoredPackageContext } from "./package-context.ts";
import { fileSelectionOf } from "./source-files.ts";

/** The address from which a script downloads a driver's files. */
export type FilesUrl = (driverId: number) => string;

export class DriverSources {
  readonly #store: Store;
  readonly #archives: ArchiveCheck;
  readonly #context: StoredPackageContext;

  constructor(store: Store, archives: ArchiveCheck, context: StoredPackageContext) {
    this.#store = store;
    this.#archives = archives;
    this.#context = context;
  }

  /** A driver's files for a folder of a package. @throws UserError "invalid" if the archive is missing or damaged */
  async files(driver: Driver, folder: string): Promise<DriverFiles> {
    const noFiles = `“${driverTitle(driver)}” comes with Windows: it has no files to download.`;
    if (isWindowsDriver(driver)) throw new UserError("invalid", noFiles);
    const version = await this.#archives.requireSound(driver);
    const { sha256, size } = driver;
    const path = this.#store.blobs.pathOf("drivers", sha256);
    const refusal: DriverFiles["refusal"] = (problem) => archiveRefusal(driver, problem);
    return { path, sha256, size, version, folder, ...fileSelectionOf(driver), refusal };
  }

  /** Lays out a ZIP of only the driver's files. @throws UserError as `files` does */
  async layOut(driver: Driver): Promise<LaidOutZip> {
    const drivers = [await this.files(driver, "")];
    return this.#context.layOut({ settings: undefined, drivers, icon: undefined });
  }

  /**
   * The download for a script without a package. If the archive is missing or damaged, the digest is empty: the script
   * works on machines that have the driver already, and fails at the download on others.
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
