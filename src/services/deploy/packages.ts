import type { DeployedPrinter } from "../../domain/deploy/download.ts";
import type { Driver } from "../../domain/drivers/driver.ts";
import { isWindowsDriver, uploadedDrivers } from "../../domain/drivers/windows-drivers.ts";
import { UserError } from "../../domain/errors.ts";
import type { PrinterDetails } from "../../domain/printers/listings.ts";
import type { ExtraFile } from "../../pkg/formats/contents.ts";
import type { PackageFile, PackageFormat } from "../../pkg/formats/format.ts";
import { packageFormats } from "../../pkg/formats/formats.ts";
import {
  type Deployable,
  type Deployment,
  deploymentOf,
  deploymentOfMany,
  driversIn,
  revisionsIn,
  scriptSettings,
  withoutDrivers,
} from "../../pkg/scripts/deployment.ts";
import { driverFolder, type FilesDownload } from "../../pkg/scripts/driver-settings.ts";
import { renderScript, type ScriptKind } from "../../pkg/scripts/render.ts";
import { revisionOf } from "../../pkg/scripts/revision.ts";
import type { Store } from "../../store/store.ts";
import { WorkQueue } from "../../workers/admission.ts";
import type { Workers } from "../../workers/pool.ts";
import type { ArchiveCheck } from "../drivers/archive-check.ts";
import { checkSettingsSize, type PrinterGroup } from "../printers/printer-group.ts";
import { deployableOf, deployablesOf } from "./deployable.ts";
import { type NamedPackage, namedPackage, packageName, withoutDriverName } from "./download-names.ts";
import { DriverPackages } from "./driver-packages.ts";
import { DriverSources, type FilesUrl } from "./driver-sources.ts";
import { PackageContents } from "./package-contents.ts";
import { StoredPackageContext } from "./package-context.ts";
import { Publisher, type RunForGroup } from "./publish.ts";
import type { Signing } from "./signing.ts";

interface WithPrinters {
  readonly printers: readonly DeployedPrinter[];
}

export type PrinterPackage = NamedPackage & WithPrinters;

interface MadeScript extends WithPrinters {
  readonly bytes: Uint8Array;
}

interface PackageOptions {
  /** Whether to leave out uploaded drivers, because other packages install them. */
  readonly omitsDriver?: boolean;
  /** Where a script downloaded alone gets drivers' files. Without it, the script contains no address. */
  readonly filesUrl?: FilesUrl | undefined;
  /** The same for a printer's vendor preferences. */
  readonly preferencesUrl?: Deployment["preferencesUrl"];
}

interface Parts {
  readonly store: Store;
  readonly workers: Workers;
  readonly archives: ArchiveCheck;
  readonly signing: Signing;
  readonly clock: () => number;
}

/** Makes packages and scripts from records and archives. It writes nothing to disk. */
export class PackageBuilder {
  /** Makes downloads of drivers without printers. */
  readonly drivers: DriverPackages;
  /** Makes scripts that publish packages to Intune. */
  readonly publisher: Publisher;
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #context: StoredPackageContext;
  readonly #sources: DriverSources;
  readonly #contents: PackageContents;
  readonly #groups = new WorkQueue(2);
  readonly #preparing = new WorkQueue(1);
  readonly #toPrepare = new Set<number>();

  constructor({ store, workers, archives, signing, clock }: Parts) {
    this.#store = store;
    this.#workers = workers;
    this.#context = new StoredPackageContext(store, workers);
    this.#sources = new DriverSources(store, archives, this.#context);
    this.#contents = new PackageContents(store, this.#sources, signing);
    const context = this.#context;
    this.drivers = new DriverPackages({ store, workers, sources: this.#sources, signing, context });
    const { drivers } = this;
    const forGroup: RunForGroup = (group, work) => this.#forGroup(group, work);
    const contents = this.#contents;
    this.publisher = new Publisher({ store, workers, context, contents, drivers, clock, forGroup });
  }

  /** One printer's package. @throws UserError "invalid" with the remedy if something is missing */
  async ofPrinter(
    format: PackageFormat,
    details: PrinterDetails,
    options: PackageOptions = {},
  ): Promise<PrinterPackage> {
    const icon = format.hasIcon ? await this.#contents.picture(details.printer.id) : undefined;
    const deployment = deploymentOf(deployableOf(this.#store, details));
    const made = await this.#build(format, deploymentFor(options, deployment), icon?.file);
    const name = withoutDriverName(packageName(details), options.omitsDriver ?? false);
    return { ...namedPackage(format, made.file, name), printers: made.printers };
  }

  /** Several printers in one package. @throws UserError "invalid" that names the first printer that cannot be included */
  async ofGroup(
    format: PackageFormat,
    group: PrinterGroup,
    options: PackageOptions = {},
  ): Promise<PrinterPackage> {
    return this.#forGroup(group, async (deployables) => {
      const deployment = deploymentOfMany(group.title, deployables);
      const made = await this.#build(format, deploymentFor(options, deployment), undefined);
      const name = withoutDriverName(group.fileName, options.omitsDriver ?? false);
      return { ...namedPackage(format, made.file, name), printers: made.printers };
    });
  }

  /** A printer's script, downloaded alone. @throws UserError as `ofPrinter` does */
  async scriptOf(
    kind: ScriptKind,
    details: PrinterDetails,
    options: PackageOptions = {},
  ): Promise<MadeScript> {
    const deployable = deployableOf(this.#store, details);
    const downloads = await this.#downloads([deployable], options);
    const deployment = scriptDeployment(options, deploymentOf(deployable, downloads));
    await this.#contents.preferences(deployment);
    const printers = [{ id: deployable.printer.id, revision: revisionOf(deployable) }];
    return { bytes: renderScript(kind, deployment), printers };
  }

  /** A script for several printers, downloaded alone. @throws UserError as `ofGroup` does */
  async scriptOfGroup(
    kind: ScriptKind,
    group: PrinterGroup,
    options: PackageOptions = {},
  ): Promise<MadeScript> {
    return this.#forGroup(group, async (deployables) => {
      const downloads = await this.#downloads(deployables, options);
      const deployment = scriptDeployment(options, deploymentOfMany(group.title, deployables, downloads));
      await this.#contents.preferences(deployment);
      const settings = scriptSettings(deployment);
      const bytes = await this.#workers.renderScript({ kind, settings: JSON.stringify(settings) });
      return { bytes, printers: revisionsIn(settings) };
    });
  }

  /** Reads the printers of a group. Only two groups are processed at a time, because each takes time and memory. */
  async #forGroup<T>(group: PrinterGroup, work: (deployables: Deployable[]) => Promise<T>): Promise<T> {
    checkSettingsSize(this.#store, group);
    return this.#groups.run(() => {
      const printers = this.#store.printers.findMany(group.ids);
      if (printers.length < group.ids.length)
        throw new UserError("busy", "Some of these printers were deleted just now. Try again.");
      return work(deployablesOf(this.#store, printers));
    });
  }

  /** The downloads of uploaded drivers, by the driver's id. Empty if the script needs none. */
  async #downloads(
    printers: readonly Deployable[],
    { filesUrl, omitsDriver = false }: PackageOptions,
  ): Promise<Deployment["downloads"]> {
    const found = new Map<number, FilesDownload>();
    if (filesUrl === undefined || omitsDriver) return found;
    for (const driver of uploadedDrivers(driversIn({ printers })))
      found.set(driver.id, await this.#sources.download(driver, filesUrl));
    return found;
  }

  /**
   * Does the work that all packages of a driver share, in the background. It prepares one driver at a time, to leave
   * room for downloads. Errors are ignored, because the first package reports them.
   */
  prepare({ id }: Pick<Driver, "id">): void {
    // A driver that already waits is not queued again: its record is read only when its preparation starts.
    if (this.#toPrepare.has(id)) return;
    this.#toPrepare.add(id);
    this.#preparing.run(() => this.#prepare(id)).catch(() => {});
  }

  async #prepare(id: number): Promise<void> {
    this.#toPrepare.delete(id);
    const driver = this.#store.drivers.get(id);
    if (isWindowsDriver(driver)) return;
    const drivers = [await this.#sources.files(driver, driverFolder)];
    for (const format of packageFormats)
      await format.prepare?.({ drivers, settings: undefined, icon: undefined }, this.#context);
  }

  async #build(
    format: PackageFormat,
    deployment: Deployment,
    icon: ExtraFile | undefined,
  ): Promise<WithPrinters & { readonly file: PackageFile }> {
    const { settings, contents } = await this.#contents.of(deployment);
    const file = await format.build({ ...contents, icon }, this.#context);
    return { file, printers: revisionsIn(settings) };
  }
}

function deploymentFor({ omitsDriver }: PackageOptions, deployment: Deployment): Deployment {
  return omitsDriver ? withoutDrivers(deployment) : deployment;
}

/** For a script downloaded alone. */
function scriptDeployment(options: PackageOptions, deployment: Deployment): Deployment {
  return { ...deploymentFor(options, deployment), preferencesUrl: options.preferencesUrl };
}
