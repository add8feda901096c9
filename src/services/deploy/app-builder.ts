import type { LinkOwner } from "../../domain/access/link.ts";
import { getOrAdd, type LruCache } from "../../domain/collections.ts";
import type { Driver } from "../../domain/drivers/driver.ts";
import { UserError } from "../../domain/errors.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { PrinterDetails, PrinterWithState } from "../../domain/printers/listings.ts";
import { type Contents, contentsKey, driverFolders, ownContents } from "../../pkg/formats/contents.ts";
import type { PackageContext } from "../../pkg/formats/format.ts";
import { graphFields } from "../../pkg/formats/graph-app.ts";
import { intune } from "../../pkg/formats/intune.ts";
import {
  type Deployable,
  deploymentOf,
  deploymentOfMany,
  withoutDrivers,
} from "../../pkg/scripts/deployment.ts";
import { etagRevision, type PublishedApp } from "../../pkg/scripts/publish-script.ts";
import type { Store } from "../../store/store.ts";
import { clientFileName, driverFileName, packageName, withoutDriverName } from "./download-names.ts";
import type { DriverPackages } from "./driver-packages.ts";
import type { PackageContents, Picture } from "./package-contents.ts";
import { clientFacts, type DeploymentFacts, driverFacts, printerFacts } from "./package-facts.ts";

/** The address of a package. Empty if the service's address is unknown. */
export type PackageUrl = (of: LinkOwner, omitsDriver: boolean) => string;

export interface BuilderParts {
  readonly store: Store;
  readonly context: PackageContext;
  readonly contents: PackageContents;
  readonly drivers: DriverPackages;
  /** Packages that were built before, by the key of their contents. */
  readonly built: LruCache<BuiltPackage>;
}

/** What a script says of a package and does not depend on the script. */
export type BuiltPackage = Pick<PublishedApp["package"], "etag" | "size" | "detectionSha256"> &
  Pick<PublishedApp, "revision">;

interface AppParts {
  readonly facts: DeploymentFacts;
  /** The package's file name without extension. */
  readonly name: string;
  readonly contents: Contents & { readonly settings: string };
  readonly url: string;
  readonly picture?: Picture | undefined;
  readonly dependsOn?: readonly LinkOwner[];
}

/** For all different icons in one script together. */
const iconsLimitBytes = 8 * 1024 * 1024;

/** Describes the apps of one script, each with its package. Drivers and icons that apps share are read once. */
export class AppBuilder {
  readonly #parts: BuilderParts;
  readonly #icons: ReturnType<Store["printers"]["appIcons"]>;
  readonly #pictures = new Map<string, Promise<Picture | undefined>>();
  readonly #drivers = new Map<number, Promise<PublishedApp>>();

  /** @param printerIds the printers that the script may publish */
  constructor(parts: BuilderParts, printerIds: readonly number[]) {
    this.#parts = parts;
    this.#icons = parts.store.printers.appIcons(printerIds);
  }

  /** @throws UserError "invalid" if the printers' icons are too large for one script */
  checkIcons(title: string, parts: "printers" | "clients"): void {
    const sizes = new Map([...this.#icons.values()].map(({ sha256, size }) => [sha256, size]));
    if ([...sizes.values()].reduce((before, size) => before + size, 0) <= iconsLimitBytes) return;
    const message = `${title}: the icons are larger than 8 MB together. Publish the ${parts} separately, or use one icon.`;
    throw new UserError("invalid", message);
  }

  /** The icons of the apps so far, by SHA-256 in hex. A damaged one has none: its app was refused. */
  async icons(): Promise<Map<string, Uint8Array>> {
    const pictures = await Promise.allSettled(this.#pictures.values());
    const found = pictures.flatMap((picture) => (picture.status === "fulfilled" && picture.value) || []);
    return new Map(found.map(({ file, bytes }) => [file.sha256, bytes]));
  }

  /** @throws UserError "invalid" with the remedy */
  async ofDriver(driver: Driver, packageUrl: PackageUrl): Promise<PublishedApp> {
    const owner = { kind: "driver", id: driver.id } as const;
    const app = await getOrAdd(this.#drivers, driver.id, async () => {
      const { models, contents } = await this.#parts.drivers.contentsOf(driver);
      const facts = driverFacts(this.#parts.store, driver, models);
      return this.#make(owner, { facts, name: driverFileName(driver), contents, url: "" });
    });
    return { ...app, package: { ...app.package, url: packageUrl(owner, false) } };
  }

  /** @param omitsDriver whether the driver is an app of its own @throws UserError "invalid" with the remedy */
  async ofPrinter(
    details: PrinterDetails,
    deployable: Deployable,
    omitsDriver: boolean,
    packageUrl: PackageUrl,
  ): Promise<PublishedApp> {
    const { id } = deployable.printer;
    const whole = deploymentOf(deployable);
    const { contents } = await this.#parts.contents.of(omitsDriver ? withoutDrivers(whole) : whole);
    const facts = printerFacts(this.#parts.store, details, deployable);
    const name = withoutDriverName(packageName(details), omitsDriver);
    const icon = this.#icons.get(id)?.sha256;
    const picture = await this.#picture(icon, () => this.#parts.contents.picture(id));
    const dependsOn = omitsDriver ? [{ kind: "driver" as const, id: deployable.driver.id }] : [];
    const owner = { kind: "printer", id } as const;
    const url = packageUrl(owner, omitsDriver);
    return this.#make(owner, { facts, name, contents, url, picture, dependsOn });
  }

  /** A client's printers in one package. @throws UserError "invalid" if they are too large for one */
  async ofClient(
    client: Client,
    rows: readonly PrinterWithState[],
    deployables: readonly Deployable[],
    packageUrl: PackageUrl,
  ): Promise<PublishedApp> {
    const { contents } = await this.#parts.contents.of(deploymentOfMany(client.name, deployables));
    const facts = clientFacts(this.#parts.store, client, rows);
    const read = () => this.#parts.contents.pictureOfClient(client);
    const picture = await this.#picture(client.icon?.sha256, read);
    const owner = { kind: "client", id: client.id } as const;
    const url = packageUrl(owner, false);
    return this.#make(owner, { facts, name: clientFileName(client), contents, url, picture });
  }

  #picture(sha256: string | undefined, read: () => Promise<Picture | undefined>) {
    return sha256 === undefined ? undefined : getOrAdd(this.#pictures, sha256, read);
  }

  async #make(owner: LinkOwner, parts: AppParts): Promise<PublishedApp> {
    const { facts, contents, url, dependsOn = [] } = parts;
    const icon = parts.picture?.file;
    // A client's package, as its page offers it, contains no icon.
    const packed = owner.kind === "client" ? undefined : icon;
    const fileName = parts.name + intune.extension;
    const fields = graphFields(facts, owner, fileName);
    if (fields === undefined) throw noMachine(facts.name);
    const { revision, etag, size, detectionSha256 } = await this.#build(contents, packed);
    return {
      ...owner,
      revision,
      // The order counts: the script's state is a digest of this as JSON.
      package: { url, etag, fileName, size, detectionSha256 },
      fields,
      notesText: facts.notesText,
      signatures: contents.signatures ?? {},
      scripts: contents.settings,
      hasRequirement: facts.requirement?.isPartial === false,
      icon: icon?.sha256,
      dependsOn,
    };
  }

  #build(bareContents: Contents, icon: Contents["icon"]): Promise<BuiltPackage> {
    const { built, context } = this.#parts;
    const contents = { ...bareContents, icon };
    const key = contentsKey(driverFolders(contents), ownContents(contents));
    return built.get(key, async () => {
      const bare = await intune.build(bareContents, context);
      const file = icon ? await intune.build(contents, context) : bare;
      const detectionSha256 = await file.detectionDigest();
      return { revision: etagRevision(bare.etag), etag: file.etag, size: file.size, detectionSha256 };
    });
  }
}

function noMachine(name: string): UserError {
  const message = `No PC can install “${name}”. Its drivers are for different architectures. Choose other drivers.`;
  return new UserError("invalid", message);
}
