import { crc32 } from "node:zlib";
import type { DeployedPrinter } from "../domain/download.ts";
import { type Driver, driverTitle } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import type { PrinterDetails } from "../domain/listings.ts";
import { slug } from "../domain/slug.ts";
import { isWindowsOwn } from "../domain/windows-drivers.ts";
import type { DriverFiles, IconFile, LaidOutZip } from "../pkg/formats/contents.ts";
import type { PackageFile, PackageFormat } from "../pkg/formats/format.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import { plainZip, zipContentType } from "../pkg/formats/plain-zip.ts";
import {
  type Deployable,
  type Deployment,
  deploymentOf,
  deploymentOfMany,
  driverFolder,
  driversIn,
  type FilesDownload,
  revisionsIn,
  settingsByPrinter,
} from "../pkg/scripts/deployment.ts";
import { renderScript, type ScriptKind } from "../pkg/scripts/render.ts";
import { revisionOf } from "../pkg/scripts/revision.ts";
import { wholeOf } from "../pkg/zip/layout.ts";
import type { Store } from "../store/store.ts";
import { Admission } from "../workers/admission.ts";
import type { Workers } from "../workers/pool.ts";
import { type ArchiveCheck, archiveRefusal } from "./archive-check.ts";
import { deployableOf, deployablesOf } from "./deployable.ts";
import { packageName } from "./download-names.ts";
import { findIcon } from "./icons.ts";
import { StoredPackageContext } from "./package-context.ts";
import { checkSettingsLength, type PrinterGroup } from "./printer-group.ts";
import { fileChanged, wantedOf } from "./source-files.ts";
import { inSteps } from "./steps.ts";

/** A package with what a download says of it. */
export interface NamedPackage extends Pick<PackageFormat, "contentType" | "isResumable" | "isEncrypted"> {
  readonly file: PackageFile;
  readonly fileName: string;
}

/** Printers as they are in what was made of them. */
interface MadeOfPrinters {
  readonly printers: readonly DeployedPrinter[];
}

export type PrinterPackage = NamedPackage & MadeOfPrinters;

export interface MadeScript extends MadeOfPrinters {
  readonly bytes: Uint8Array;
}

/** Where a driver's files are to be fetched, by its id. */
type FilesUrl = (driverId: number) => string;

/** Makes packages from what the store holds. Nothing is written for them. */
export class PackageBuilder {
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #archives: ArchiveCheck;
  readonly #context: StoredPackageContext;
  readonly #groups = new Admission(2, 64);
  #preparing: Promise<void> = Promise.resolve();
  /** Ids of drivers whose turn has not come. */
  readonly #toPrepare = new Set<number>();

  constructor(store: Store, workers: Workers, archives: ArchiveCheck) {
    this.#store = store;
    this.#workers = workers;
    this.#archives = archives;
    this.#context = new StoredPackageContext(store, workers);
  }

  /** One printer's package. @throws UserError "invalid" with the remedy when something is missing */
  async ofPrinter(format: PackageFormat, details: PrinterDetails): Promise<PrinterPackage> {
    const icon = format.hasIcon ? await this.#icon(details.printer.id) : undefined;
    const made = await this.#build(format, deploymentOf(deployableOf(this.#store, details)), icon);
    return { ...named(format, made.file, packageName(details)), printers: made.printers };
  }

  /** Several printers in one package. @throws UserError "invalid" that names the first that cannot go in */
  async ofGroup(format: PackageFormat, group: PrinterGroup): Promise<PrinterPackage> {
    return this.#inTurn(group, async (deployables) => {
      const made = await this.#build(format, deploymentOfMany(group.title, deployables), undefined);
      return { ...named(format, made.file, group.fileName), printers: made.printers };
    });
  }

  /**
   * A printer's script fetched alone.
   * @param filesUrl where a driver's files are to be fetched; without it the script names no address
   */
  async scriptOf(kind: ScriptKind, details: PrinterDetails, filesUrl?: FilesUrl): Promise<MadeScript> {
    const deployable = deployableOf(this.#store, details);
    const downloads = await this.#downloads([deployable], filesUrl);
    const printers = [{ id: deployable.printer.id, revision: revisionOf(deployable) }];
    return { bytes: renderScript(kind, deploymentOf(deployable, downloads)), printers };
  }

  /** The same of several printers. @throws UserError "invalid" that names the first that cannot go in */
  async scriptOfGroup(kind: ScriptKind, group: PrinterGroup, filesUrl?: FilesUrl): Promise<MadeScript> {
    return this.#inTurn(group, async (deployables) => {
      const downloads = await this.#downloads(deployables, filesUrl);
      const deployment = deploymentOfMany(group.title, deployables, downloads);
      const settings = await inSteps(settingsByPrinter(deployment));
      const bytes = await this.#workers.renderScript({ kind, settings: JSON.stringify(settings) });
      return { bytes, printers: revisionsIn(settings) };
    });
  }

  /** What several printers need takes time and memory: only a few groups are worked on at once. */
  async #inTurn<T>(group: PrinterGroup, work: (deployables: Deployable[]) => Promise<T>): Promise<T> {
    checkSettingsLength(this.#store, group);
    return this.#groups.run(() => {
      const printers = this.#store.printers.several(group.ids);
      if (printers.length < group.ids.length)
        throw new UserError("busy", "Some of these printers were deleted just now. Try again.");
      return work(deployablesOf(this.#store, printers));
    });
  }

  /** Of the drivers of printers that have files, by id. */
  async #downloads(
    printers: readonly Deployable[],
    filesUrl: FilesUrl | undefined,
  ): Promise<Deployment["downloads"]> {
    const found = new Map<number, FilesDownload>();
    if (filesUrl === undefined) return found;
    for (const driver of uploadedIn({ printers }))
      found.set(driver.id, await this.#download(driver, filesUrl));
    return found;
  }

  /**
   * Where a driver's files are for a script that is fetched alone. An archive that is missing or damaged has no
   * digest: the script works all the same on a machine that has the driver, and fails at the download where it has not.
   */
  async #download(driver: Driver, filesUrl: FilesUrl): Promise<FilesDownload> {
    const url = filesUrl(driver.id);
    try {
      return { url, sha256: await this.#context.digest(await this.#layOutFiles(driver)) };
    } catch (error) {
      if (error instanceof UserError && error.code === "invalid") return { url, sha256: "" };
      throw error;
    }
  }

  /** A driver's archive as it was uploaded. @throws UserError "invalid" when it is missing or damaged */
  async archiveOf(driver: Driver): Promise<NamedPackage> {
    const source = await this.#driverFiles(driver, "");
    const zip = {
      layout: wholeOf(driver.size),
      digest: Buffer.from(driver.sha256, "hex"),
      sources: [source],
    };
    const file = { ...plainZip("archive", zip, this.#context), etag: driver.sha256 };
    return { ...plainDownload, file, fileName: driver.file_name };
  }

  /** A driver's files as packages hold them, for scripts fetched alone. @throws UserError "invalid" */
  async filesOf(driver: Driver): Promise<NamedPackage> {
    const file = plainZip("files", await this.#layOutFiles(driver), this.#context);
    const name = slug(driver.file_name.replace(/\.zip$/i, "")) || `driver-${driver.id}`;
    return { ...plainDownload, file, fileName: `${name}-files.zip` };
  }

  /**
   * Plans what the first package of a driver would have to wait for: one driver at a time, so that downloads find a
   * place beside it. Nobody waits for it; who needs it meets whatever is wrong.
   */
  prepare({ id }: Pick<Driver, "id">): void {
    // As the driver is when its turn comes: what it was asked for before that is not made any more.
    if (this.#toPrepare.has(id)) return;
    this.#toPrepare.add(id);
    this.#preparing = this.#preparing.then(() => this.#prepare(id)).catch(() => {});
  }

  async #prepare(id: number): Promise<void> {
    this.#toPrepare.delete(id);
    const driver = this.#store.drivers.get(id);
    if (isWindowsOwn(driver)) return;
    const drivers = [await this.#driverFiles(driver, driverFolder)];
    for (const format of packageFormats)
      await format.prepare?.({ drivers, settings: undefined, icon: undefined }, this.#context);
  }

  async #layOutFiles(driver: Driver): Promise<LaidOutZip> {
    const drivers = [await this.#driverFiles(driver, "")];
    return this.#context.layOut({ settings: undefined, drivers, icon: undefined });
  }

  async #build(
    format: PackageFormat,
    deployment: Deployment,
    icon: IconFile | undefined,
  ): Promise<MadeOfPrinters & { readonly file: PackageFile }> {
    const folderOf = ({ id }: Driver) => deployment.folders.get(id) ?? driverFolder;
    const settings = await inSteps(settingsByPrinter(deployment));
    const contents = {
      settings: JSON.stringify(settings),
      drivers: await Promise.all(
        uploadedIn(deployment).map((driver) => this.#driverFiles(driver, folderOf(driver))),
      ),
      icon,
    };
    return { file: await format.build(contents, this.#context), printers: revisionsIn(settings) };
  }

  async #driverFiles(driver: Driver, folder: string): Promise<DriverFiles> {
    if (isWindowsOwn(driver))
      throw new UserError("invalid", `Windows brings “${driverTitle(driver)}”: there are no files of it.`);
    const version = await this.#archives.require(driver);
    const { sha256, size } = driver;
    const path = this.#store.blobs.archivePath(sha256);
    const refusal: DriverFiles["refusal"] = (problem) => archiveRefusal(driver, problem);
    return { path, sha256, size, version, folder, ...wantedOf(driver), refusal };
  }

  /** The printer's picture; a missing record or file is no reason to fail. */
  async #icon(printerId: number): Promise<IconFile | undefined> {
    const picture = await findIcon(this.#store, printerId);
    if (picture === undefined) return undefined;
    const { path, sha256, bytes } = picture;
    const size = bytes.length;
    return { path, sha256, size, version: undefined, crc32: crc32(bytes), refusal: fileChanged };
  }
}

/** The drivers of a deployment that have files. */
function uploadedIn(deployment: Pick<Deployment, "printers">): Driver[] {
  return driversIn(deployment).filter((driver) => !isWindowsOwn(driver));
}

const plainDownload = { contentType: zipContentType, isResumable: true, isEncrypted: false };

function named(format: PackageFormat, file: PackageFile, name: string): NamedPackage {
  const { contentType, isResumable, isEncrypted, extension } = format;
  return { file, contentType, isResumable, isEncrypted, fileName: name + extension };
}
