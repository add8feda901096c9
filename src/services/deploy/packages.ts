import type { DeployedPrinter } from "../../domain/deploy/download.ts";
import type { Driver } from "../../domain/drivers/driver.ts";
import { isWindowsOwn, uploadedAmong } from "../../domain/drivers/windows-drivers.ts";
import { UserError } from "../../domain/errors.ts";
import type { PrinterDetails } from "../../domain/printers/listings.ts";
import type { IconFile } from "../../pkg/formats/contents.ts";
import type { PackageFile, PackageFormat } from "../../pkg/formats/format.ts";
import { packageFormats } from "../../pkg/formats/formats.ts";
import {
  type Deployable,
  type Deployment,
  deploymentApart,
  deploymentOf,
  deploymentOfMany,
  driversIn,
  revisionsIn,
  scriptSettings,
} from "../../pkg/scripts/deployment.ts";
import { driverFolder, type FilesDownload } from "../../pkg/scripts/driver-settings.ts";
import { renderScript, type ScriptKind } from "../../pkg/scripts/render.ts";
import { revisionOf } from "../../pkg/scripts/revision.ts";
import type { Store } from "../../store/store.ts";
import { Admission } from "../../workers/admission.ts";
import type { Workers } from "../../workers/pool.ts";
import type { ArchiveCheck } from "../drivers/archive-check.ts";
import { checkSettingsLength, type PrinterGroup } from "../printers/printer-group.ts";
import { deployableOf, deployablesOf } from "./deployable.ts";
import { type NamedPackage, named, packageName, withoutDriverName } from "./download-names.ts";
import { DriverPackages } from "./driver-packages.ts";
import { DriverSources, type FilesUrl } from "./driver-sources.ts";
import { PackageContents } from "./package-contents.ts";
import { StoredPackageContext } from "./package-context.ts";
import { type InTurn, Publisher } from "./publish.ts";

/** Printers as they are in what was made of them. */
interface MadeOfPrinters {
  readonly printers: readonly DeployedPrinter[];
}

export type PrinterPackage = NamedPackage & MadeOfPrinters;

interface MadeScript extends MadeOfPrinters {
  readonly bytes: Uint8Array;
}

/** How something is wanted. */
interface Wanted {
  /** Without uploaded drivers, which packages of their own install. */
  readonly isApart?: boolean;
  /** For a script fetched alone, where drivers' files are to be fetched; without it the script names no address. */
  readonly filesUrl?: FilesUrl | undefined;
}

interface Parts {
  readonly store: Store;
  readonly workers: Workers;
  readonly archives: ArchiveCheck;
  readonly clock: () => number;
}

/** Makes packages from what the store holds. Nothing is written for them. */
export class PackageBuilder {
  /** Of drivers by themselves. */
  readonly drivers: DriverPackages;
  /** Scripts that put packages into Intune. */
  readonly publisher: Publisher;
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #context: StoredPackageContext;
  readonly #sources: DriverSources;
  readonly #contents: PackageContents;
  readonly #groups = new Admission(2);
  readonly #preparing = new Admission(1);
  /** Ids of drivers whose turn has not come. */
  readonly #toPrepare = new Set<number>();

  constructor({ store, workers, archives, clock }: Parts) {
    this.#store = store;
    this.#workers = workers;
    this.#context = new StoredPackageContext(store, workers);
    this.#sources = new DriverSources(store, archives, this.#context);
    this.#contents = new PackageContents(store, this.#sources);
    const context = this.#context;
    const drivers = new DriverPackages({ store, workers, sources: this.#sources, context });
    this.drivers = drivers;
    const inTurn: InTurn = (group, work) => this.#inTurn(group, work);
    const contents = this.#contents;
    this.publisher = new Publisher({ store, workers, context, contents, drivers, clock, inTurn });
  }

  /** One printer's package. @throws UserError "invalid" with the remedy when something is missing */
  async ofPrinter(
    format: PackageFormat,
    details: PrinterDetails,
    wanted: Wanted = {},
  ): Promise<PrinterPackage> {
    const icon = format.hasIcon ? await this.#contents.picture(details.printer.id) : undefined;
    const deployment = deploymentOf(deployableOf(this.#store, details));
    const made = await this.#build(format, deploymentFor(wanted, deployment), icon?.file);
    const name = withoutDriverName(packageName(details), wanted.isApart ?? false);
    return { ...named(format, made.file, name), printers: made.printers };
  }

  /** Several printers in one package. @throws UserError "invalid" that names the first that cannot go in */
  async ofGroup(format: PackageFormat, group: PrinterGroup, wanted: Wanted = {}): Promise<PrinterPackage> {
    return this.#inTurn(group, async (deployables) => {
      const deployment = deploymentOfMany(group.title, deployables);
      const made = await this.#build(format, deploymentFor(wanted, deployment), undefined);
      const name = withoutDriverName(group.fileName, wanted.isApart ?? false);
      return { ...named(format, made.file, name), printers: made.printers };
    });
  }

  /** A printer's script fetched alone. */
  async scriptOf(kind: ScriptKind, details: PrinterDetails, wanted: Wanted = {}): Promise<MadeScript> {
    const deployable = deployableOf(this.#store, details);
    const downloads = await this.#downloads([deployable], wanted);
    const deployment = deploymentFor(wanted, deploymentOf(deployable, downloads));
    const printers = [{ id: deployable.printer.id, revision: revisionOf(deployable) }];
    return { bytes: renderScript(kind, deployment), printers };
  }

  /** The same of several printers. @throws UserError "invalid" that names the first that cannot go in */
  async scriptOfGroup(kind: ScriptKind, group: PrinterGroup, wanted: Wanted = {}): Promise<MadeScript> {
    return this.#inTurn(group, async (deployables) => {
      const downloads = await this.#downloads(deployables, wanted);
      const deployment = deploymentFor(wanted, deploymentOfMany(group.title, deployables, downloads));
      const settings = scriptSettings(deployment);
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
    { filesUrl, isApart = false }: Wanted,
  ): Promise<Deployment["downloads"]> {
    const found = new Map<number, FilesDownload>();
    if (filesUrl === undefined || isApart) return found;
    for (const driver of uploadedAmong(driversIn({ printers })))
      found.set(driver.id, await this.#sources.download(driver, filesUrl));
    return found;
  }

  /**
   * Plans what the first package of a driver would have to wait for: one driver at a time, so that downloads find a
   * place beside it. Nobody waits for it; who needs it meets whatever is wrong.
   */
  prepare({ id }: Pick<Driver, "id">): void {
    // As the driver is when its turn comes: what it was asked for before that is not made any more.
    if (this.#toPrepare.has(id)) return;
    this.#toPrepare.add(id);
    this.#preparing.run(() => this.#prepare(id)).catch(() => {});
  }

  async #prepare(id: number): Promise<void> {
    this.#toPrepare.delete(id);
    const driver = this.#store.drivers.get(id);
    if (isWindowsOwn(driver)) return;
    const drivers = [await this.#sources.files(driver, driverFolder)];
    for (const format of packageFormats)
      await format.prepare?.({ drivers, settings: undefined, icon: undefined }, this.#context);
  }

  async #build(
    format: PackageFormat,
    deployment: Deployment,
    icon: IconFile | undefined,
  ): Promise<MadeOfPrinters & { readonly file: PackageFile }> {
    const { settings, contents } = await this.#contents.of(deployment);
    const file = await format.build({ ...contents, icon }, this.#context);
    return { file, printers: revisionsIn(settings) };
  }
}

function deploymentFor({ isApart }: Wanted, deployment: Deployment): Deployment {
  return isApart ? deploymentApart(deployment) : deployment;
}
