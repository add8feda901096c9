import { crc32 } from "node:zlib";
import type { Driver } from "../../domain/drivers/driver.ts";
import { uploadedDrivers } from "../../domain/drivers/windows-drivers.ts";
import type { Contents, IconFile } from "../../pkg/formats/contents.ts";
import {
  type Deployment,
  driversIn,
  type ScriptSettings,
  scriptSettings,
} from "../../pkg/scripts/deployment.ts";
import { driverFolder } from "../../pkg/scripts/driver-settings.ts";
import type { Store } from "../../store/store.ts";
import { findIcon } from "../printers/icons.ts";
import type { DriverSources } from "./driver-sources.ts";
import { fileChanged } from "./source-files.ts";

export class PackageContents {
  readonly #store: Store;
  readonly #sources: DriverSources;

  constructor(store: Store, sources: DriverSources) {
    this.#store = store;
    this.#sources = sources;
  }

  /** The contents without an icon. @throws UserError "invalid" if an archive is missing or damaged */
  async of(
    deployment: Deployment,
  ): Promise<{ readonly settings: ScriptSettings; readonly contents: Contents & { settings: string } }> {
    const folderOf = ({ id }: Driver) => deployment.folders.get(id) ?? driverFolder;
    const settings = scriptSettings(deployment);
    const files = await Promise.all(
      uploadedDrivers(driversIn(deployment)).map((driver) => this.#sources.files(driver, folderOf(driver))),
    );
    const contents = {
      settings: JSON.stringify(settings),
      // The archives are checked even if this package leaves them out: the drivers' own packages need them.
      drivers: deployment.omitsDriver ? [] : files,
      icon: undefined,
    };
    return { settings, contents };
  }

  /** A printer's icon. Undefined if its record or its file is missing. */
  async picture(printerId: number): Promise<Picture | undefined> {
    const picture = await findIcon(this.#store, printerId);
    if (picture === undefined) return undefined;
    const { path, sha256, bytes } = picture;
    const size = bytes.length;
    const file = { path, sha256, size, version: undefined, crc32: crc32(bytes), refusal: fileChanged };
    return { bytes, file };
  }
}

export interface Picture {
  readonly bytes: Uint8Array;
  readonly file: IconFile;
}
