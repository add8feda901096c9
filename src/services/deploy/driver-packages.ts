import type { Driver } from "../../domain/drivers/driver.ts";
import { slug } from "../../domain/text.ts";
import type { Contents } from "../../pkg/formats/contents.ts";
import type { PackageFormat } from "../../pkg/formats/format.ts";
import { plainZip, zipContentType } from "../../pkg/formats/rmm.ts";
import { driverScriptSettings } from "../../pkg/scripts/driver-deployment.ts";
import { driverFolder } from "../../pkg/scripts/driver-settings.ts";
import type { ScriptKind } from "../../pkg/scripts/render.ts";
import { singleSourceLayout } from "../../pkg/zip/layout.ts";
import type { Store } from "../../store/store.ts";
import type { Workers } from "../../workers/pool.ts";
import { requireModels } from "../drivers/driver-models.ts";
import { driverFileName, type NamedPackage, namedPackage } from "./download-names.ts";
import type { DriverSources, FilesUrl } from "./driver-sources.ts";
import type { StoredPackageContext } from "./package-context.ts";
import type { Signing } from "./signing.ts";

interface Parts {
  readonly store: Store;
  readonly workers: Workers;
  readonly sources: DriverSources;
  readonly signing: Signing;
  readonly context: StoredPackageContext;
}

interface DriverContents {
  /** The names under which the driver is installed. */
  readonly models: readonly string[];
  readonly contents: Contents & { readonly settings: string };
}

export class DriverPackages {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A package that installs the driver under all model names that printers use. @throws UserError "invalid" with the remedy */
  async packageOf(format: PackageFormat, driver: Driver): Promise<NamedPackage> {
    const { contents } = await this.contentsOf(driver);
    return namedPackage(format, await format.build(contents, this.#parts.context), driverFileName(driver));
  }

  /** The contents of that package. @throws UserError as `packageOf` does */
  async contentsOf(driver: Driver): Promise<DriverContents> {
    const models = requireModels(this.#parts.store, driver);
    const settings = driverScriptSettings({ driver, models });
    const drivers = [await this.#parts.sources.files(driver, driverFolder)];
    const signatures = await this.#parts.signing.signaturesOf(settings);
    return { models, contents: { settings: JSON.stringify(settings), signatures, drivers, icon: undefined } };
  }

  /**
   * A script of that package, downloaded alone.
   * @param filesUrl where the script downloads the driver's files; without it, the script contains no address
   */
  async scriptOf(kind: ScriptKind, driver: Driver, filesUrl?: FilesUrl): Promise<Uint8Array> {
    const models = requireModels(this.#parts.store, driver);
    const download = filesUrl && (await this.#parts.sources.download(driver, filesUrl));
    const settings = driverScriptSettings({ driver, models, download });
    return this.#parts.workers.renderScript({ kind, settings: JSON.stringify(settings) });
  }

  /** The driver's archive as it was uploaded. @throws UserError "invalid" if it is missing or damaged */
  async archiveOf(driver: Driver): Promise<NamedPackage> {
    const source = await this.#parts.sources.files(driver, "");
    const zip = {
      layout: singleSourceLayout(driver.size),
      digest: Buffer.from(driver.sha256, "hex"),
      sources: [source],
    };
    const file = { ...plainZip("archive", zip, this.#parts.context), etag: driver.sha256 };
    return { contentType: zipContentType, file, fileName: driver.file_name };
  }

  /** A ZIP of the driver's files as in packages, for scripts downloaded alone. @throws UserError "invalid" */
  async filesOf(driver: Driver): Promise<NamedPackage> {
    const file = plainZip("files", await this.#parts.sources.layOut(driver), this.#parts.context);
    const name = slug(driver.file_name.replace(/\.zip$/i, "")) || `driver-${driver.id}`;
    return { contentType: zipContentType, file, fileName: `${name}-files.zip` };
  }
}
