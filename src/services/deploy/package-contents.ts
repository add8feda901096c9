import { crc32 } from "node:zlib";
import type { Driver } from "../../domain/drivers/driver.ts";
import { uploadedDrivers } from "../../domain/drivers/windows-drivers.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { Contents, ExtraFile } from "../../pkg/formats/contents.ts";
import {
  type Deployment,
  driversIn,
  type ScriptSettings,
  scriptSettings,
} from "../../pkg/scripts/deployment.ts";
import { driverFolder } from "../../pkg/scripts/driver-settings.ts";
import type { Store } from "../../store/store.ts";
import { findAppIcon, findClientIcon, readStored, type StoredFile } from "../printers/printer-files.ts";
import type { DriverSources } from "./driver-sources.ts";
import type { Signing } from "./signing.ts";
import { fileChanged } from "./source-files.ts";

export class PackageContents {
  readonly #store: Store;
  readonly #sources: DriverSources;
  readonly #signing: Signing;

  constructor(store: Store, sources: DriverSources, signing: Signing) {
    this.#store = store;
    this.#sources = sources;
    this.#signing = signing;
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
      signatures: await this.#signing.signaturesOf(settings),
      preferences: await this.preferences(deployment),
    };
    return { settings, contents };
  }

  /** The vendor preferences of a deployment's printers. @throws UserError "invalid" if a file is missing or damaged */
  async preferences({
    printers,
    preferences,
  }: Pick<Deployment, "printers" | "preferences">): Promise<ExtraFile[]> {
    const files: ExtraFile[] = [];
    for (const { printer } of printers) {
      const name = preferences.get(printer.id);
      if (name === undefined) continue;
      const file = this.#store.preferences.find(printer.id);
      // The scripts of this package contain the digest, so another file would fail on the PC.
      if (file?.sha256 !== printer.preferences_sha256) throw fileChanged();
      const { size, crc32 } = file;
      const { path, sha256, version } = await readStored(this.#store, "preferences", file, printer);
      files.push({ name, path, sha256, size, crc32, version, refusal: fileChanged });
    }
    return files;
  }

  /** The icon of a printer's app. Undefined if neither the printer nor its client has one. @throws as `preferences` */
  async picture(printerId: number): Promise<Picture | undefined> {
    const picture = await findAppIcon(this.#store, printerId);
    return picture && pictureOf(picture);
  }

  /** The icon of a client's app. */
  async pictureOfClient(client: Client): Promise<Picture | undefined> {
    const picture = await findClientIcon(this.#store, client);
    return picture && pictureOf(picture);
  }
}

function pictureOf({ bytes, ...file }: StoredFile): Picture {
  const extra = { name: "icon.png", size: bytes.length, crc32: crc32(bytes), refusal: fileChanged };
  return { bytes, file: { ...file, ...extra } };
}

export interface Picture {
  readonly bytes: Uint8Array;
  readonly file: ExtraFile;
}
