import type { LinkOwner } from "../../domain/access/link.ts";
import type { Driver } from "../../domain/drivers/driver.ts";
import { UserError } from "../../domain/errors.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { PrinterDetails, PrinterWithState } from "../../domain/printers/listings.ts";
import type { Contents } from "../../pkg/formats/contents.ts";
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

interface Parts {
  readonly store: Store;
  readonly context: PackageContext;
  readonly contents: PackageContents;
  readonly drivers: DriverPackages;
}

interface AppParts {
  readonly facts: DeploymentFacts;
  /** The package's file name without extension. */
  readonly name: string;
  readonly contents: Contents & { readonly settings: string };
  readonly omitsDriver?: boolean;
  readonly picture?: Picture | undefined;
  readonly dependsOn?: readonly LinkOwner[];
}

/** The icons of a script's apps, by SHA-256 in hex. */
export type Icons = Map<string, Uint8Array>;

/** Describes the apps of one part of a script, each with its package. */
export class AppBuilder {
  readonly #parts: Parts;
  readonly #packageUrl: PackageUrl;
  readonly #icons: Icons;

  /** @param icons gets the icons of the apps */
  constructor(parts: Parts, packageUrl: PackageUrl, icons: Icons) {
    this.#parts = parts;
    this.#packageUrl = packageUrl;
    this.#icons = icons;
  }

  /** @throws UserError "invalid" with the remedy */
  async ofDriver(driver: Driver): Promise<PublishedApp> {
    const { models, contents } = await this.#parts.drivers.contentsOf(driver);
    const facts = driverFacts(this.#parts.store, driver, models);
    return this.#make({ kind: "driver", id: driver.id }, { facts, name: driverFileName(driver), contents });
  }

  /** @param omitsDriver whether the driver is an app of its own @throws UserError "invalid" with the remedy */
  async ofPrinter(
    details: PrinterDetails,
    deployable: Deployable,
    omitsDriver: boolean,
  ): Promise<PublishedApp> {
    const { id } = deployable.printer;
    const whole = deploymentOf(deployable);
    const { contents } = await this.#parts.contents.of(omitsDriver ? withoutDrivers(whole) : whole);
    const facts = printerFacts(this.#parts.store, details, deployable);
    const name = withoutDriverName(packageName(details), omitsDriver);
    const picture = await this.#parts.contents.picture(id);
    if (picture !== undefined) this.#icons.set(picture.file.sha256, picture.bytes);
    const dependsOn = omitsDriver ? [{ kind: "driver" as const, id: deployable.driver.id }] : [];
    return this.#make({ kind: "printer", id }, { facts, name, contents, omitsDriver, picture, dependsOn });
  }

  /** A client's printers in one package. @throws UserError "invalid" if they are too large for one */
  async ofClient(
    client: Client,
    rows: readonly PrinterWithState[],
    deployables: readonly Deployable[],
  ): Promise<PublishedApp> {
    const { contents } = await this.#parts.contents.of(deploymentOfMany(client.name, deployables));
    const facts = clientFacts(this.#parts.store, client, rows);
    const picture = await this.#parts.contents.pictureOfClient(client);
    if (picture !== undefined) this.#icons.set(picture.file.sha256, picture.bytes);
    const owner = { kind: "client", id: client.id } as const;
    return this.#make(owner, { facts, name: clientFileName(client), contents, picture });
  }

  async #make(owner: LinkOwner, parts: AppParts): Promise<PublishedApp> {
    const { facts, contents, omitsDriver = false, dependsOn = [] } = parts;
    const icon = parts.picture?.file;
    // A client's package, as its page offers it, contains no icon.
    const packed = owner.kind === "client" ? undefined : icon;
    const { context } = this.#parts;
    const fileName = parts.name + intune.extension;
    const fields = graphFields(facts, owner, fileName);
    if (fields === undefined) throw noMachine(facts.name);
    const bare = await intune.build(contents, context);
    const file = packed ? await intune.build({ ...contents, icon: packed }, context) : bare;
    const { etag, size } = file;
    const detectionSha256 = await file.detectionDigest();
    return {
      ...owner,
      revision: etagRevision(bare.etag),
      package: { url: this.#packageUrl(owner, omitsDriver), etag, fileName, size, detectionSha256 },
      fields,
      notesText: facts.notesText,
      signatures: contents.signatures ?? {},
      scripts: contents.settings,
      hasRequirement: facts.requirement?.isPartial === false,
      icon: icon?.sha256,
      dependsOn,
    };
  }
}

function noMachine(name: string): UserError {
  const message = `No PC can install “${name}”. Its drivers are for different architectures. Choose other drivers.`;
  return new UserError("invalid", message);
}
