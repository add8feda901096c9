import type { Client } from "../domain/client.ts";
import type { Driver } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import type { LinkOwner } from "../domain/link.ts";
import type { PrinterDetails, StatedPrinter } from "../domain/listings.ts";
import type { Contents } from "../pkg/formats/contents.ts";
import type { PackageContext } from "../pkg/formats/format.ts";
import { graphFields } from "../pkg/formats/graph-app.ts";
import { mdm } from "../pkg/formats/mdm.ts";
import {
  type Deployable,
  deploymentApart,
  deploymentOf,
  deploymentOfMany,
} from "../pkg/scripts/deployment.ts";
import { etagRevision, type PublishedApp } from "../pkg/scripts/publish-script.ts";
import type { Store } from "../store/store.ts";
import { clientFileName, driverFileName, packageName, withoutDriverName } from "./download-names.ts";
import type { DriverPackages } from "./driver-packages.ts";
import type { PackageContents, Picture } from "./package-contents.ts";
import { clientFacts, type DeploymentFacts, driverFacts, printerFacts } from "./package-facts.ts";

/** Where a package is downloaded; empty where that cannot be said. */
export type PackageUrl = (of: LinkOwner, isApart: boolean) => string;

interface Parts {
  readonly store: Store;
  readonly context: PackageContext;
  readonly contents: PackageContents;
  readonly drivers: DriverPackages;
  readonly packageUrl: PackageUrl;
}

/** What an app is made of. */
interface Made {
  readonly facts: DeploymentFacts;
  /** Of the package's file, without its ending. */
  readonly name: string;
  readonly contents: Contents & { readonly settings: string };
  readonly isApart?: boolean;
  readonly picture?: Picture | undefined;
  readonly dependsOn?: readonly LinkOwner[];
}

/** Describes apps as a script publishes them, each with the package that is downloaded for it. */
export class PublishedApps {
  readonly #parts: Parts;
  /** Of the apps that were made, by digest. */
  readonly icons = new Map<string, Uint8Array>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A driver by itself. @throws UserError "invalid" with the remedy */
  async ofDriver(driver: Driver): Promise<PublishedApp> {
    const { models, contents } = await this.#parts.drivers.contentsOf(driver);
    const facts = driverFacts(this.#parts.store, driver, models);
    return this.#make({ kind: "driver", id: driver.id }, { facts, name: driverFileName(driver), contents });
  }

  /** @param isApart whether its driver is an app of its own @throws UserError "invalid" with the remedy */
  async ofPrinter(details: PrinterDetails, deployable: Deployable, isApart: boolean): Promise<PublishedApp> {
    const { id } = deployable.printer;
    const whole = deploymentOf(deployable);
    const { contents } = await this.#parts.contents.of(isApart ? deploymentApart(whole) : whole);
    const facts = printerFacts(this.#parts.store, details, deployable);
    const name = withoutDriverName(packageName(details), isApart);
    const picture = await this.#parts.contents.picture(id);
    if (picture !== undefined) this.icons.set(picture.file.sha256, picture.bytes);
    const dependsOn = isApart ? [{ kind: "driver" as const, id: deployable.driver.id }] : [];
    return this.#make({ kind: "printer", id }, { facts, name, contents, isApart, picture, dependsOn });
  }

  /** A client's printers in one package. @throws UserError "invalid" where none can hold them */
  async ofClient(
    client: Client,
    rows: readonly StatedPrinter[],
    deployables: readonly Deployable[],
  ): Promise<PublishedApp> {
    const { contents } = await this.#parts.contents.of(deploymentOfMany(client.name, deployables));
    const facts = clientFacts(this.#parts.store, client, rows);
    return this.#make({ kind: "client", id: client.id }, { facts, name: clientFileName(client), contents });
  }

  async #make(owner: LinkOwner, made: Made): Promise<PublishedApp> {
    const { facts, contents, isApart = false, picture, dependsOn = [] } = made;
    const { context, packageUrl } = this.#parts;
    const fileName = made.name + mdm.extension;
    const fields = graphFields(facts, owner, fileName);
    if (fields === undefined) throw noMachine(facts.name);
    const bare = await mdm.build(contents, context);
    const file = picture === undefined ? bare : await mdm.build({ ...contents, icon: picture.file }, context);
    const { etag, size } = file;
    const detectionSha256 = await file.detectionDigest();
    return {
      ...owner,
      revision: etagRevision(bare.etag),
      package: { url: packageUrl(owner, isApart), etag, fileName, size, detectionSha256 },
      fields,
      scripts: contents.settings,
      hasRequirement: facts.place !== undefined && facts.place.anywhere === 0,
      icon: picture?.file.sha256,
      dependsOn,
    };
  }
}

function noMachine(name: string): UserError {
  return new UserError(
    "invalid",
    `No machine can have all of “${name}”: look which machines its drivers are for, and choose others.`,
  );
}
