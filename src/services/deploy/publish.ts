import { setImmediate } from "node:timers/promises";
import type { LinkOwner } from "../../domain/access/link.ts";
import { addTo } from "../../domain/collections.ts";
import { sharedDrivers } from "../../domain/deploy/deployment-choice.ts";
import { type Driver, packageTitle } from "../../domain/drivers/driver.ts";
import { UserError } from "../../domain/errors.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { Finding } from "../../domain/printers/findings.ts";
import type { PrinterDetails, PrinterWithState } from "../../domain/printers/listings.ts";
import { firstOf } from "../../domain/text.ts";
import type { Contents } from "../../pkg/formats/contents.ts";
import type { PackageContext } from "../../pkg/formats/format.ts";
import { graphFields } from "../../pkg/formats/graph-app.ts";
import { intune } from "../../pkg/formats/intune.ts";
import {
  type Deployable,
  deploymentOf,
  deploymentOfMany,
  driversIn,
  withoutDrivers,
} from "../../pkg/scripts/deployment.ts";
import { etagRevision, type Publication, type PublishedApp } from "../../pkg/scripts/publish-script.ts";
import type { Store } from "../../store/store.ts";
import type { Workers } from "../../workers/pool.ts";
import type { PublishedScript } from "../../workers/tasks.ts";
import { type ClientGroup, type PrinterGroup, requirePrinters } from "../printers/printer-group.ts";
import { deployableOf } from "./deployable.ts";
import {
  clientFileName,
  driverFileName,
  packageName,
  scriptFileName,
  scriptName,
  withoutDriverName,
} from "./download-names.ts";
import type { DriverPackages } from "./driver-packages.ts";
import type { PackageContents, Picture } from "./package-contents.ts";
import { clientFacts, type DeploymentFacts, driverFacts, instanceOf, printerFacts } from "./package-facts.ts";

/** Reads the printers of a group and runs `work` with them, for a few groups at a time. */
export type RunForGroup = <T>(
  group: PrinterGroup,
  work: (printers: Deployable[]) => Promise<T>,
) => Promise<T>;

interface Parts {
  readonly store: Store;
  readonly workers: Workers;
  readonly context: PackageContext;
  readonly contents: PackageContents;
  readonly drivers: DriverPackages;
  readonly clock: () => number;
  readonly forGroup: RunForGroup;
}

/** The address of a package. Empty if the service's address is unknown. */
type PackageUrl = (of: LinkOwner, omitsDriver: boolean) => string;

interface Recipient {
  /** The service's address. Empty if it is unknown. */
  readonly service: string;
  /** Where the script can be downloaded again without signing in. Empty if the service's address is unknown. */
  readonly scriptUrl: string;
  readonly packageUrl: PackageUrl;
  /** Whether the recipient may see all printers, clients and drivers. */
  readonly knowsAll: boolean;
  /**
   * Whether the recipient's scope is a single client or printer. A driver's own package contains the models of all
   * clients, so each printer's package then includes its driver.
   */
  readonly isLimited: boolean;
}

interface PrinterContext {
  readonly findings: readonly Finding[];
  /** The deployable printers of its client, including this one. */
  readonly siblings: readonly PrinterWithState[];
}

interface PublishScript extends PublishedScript {
  readonly fileName: string;
}

/** The parts of a publication that differ between a printer, a client and a driver. */
type PublicationParts = Pick<Publication, "title" | "apps"> &
  Partial<Pick<Publication, "attention" | "leftOut" | "together" | "togetherRefusal">>;

export class Publisher {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Publishes one printer. Its driver is an app of its own if other printers of its client use it too.
   * @throws UserError "invalid" with the remedy
   */
  async ofPrinter(
    details: PrinterDetails,
    { findings, siblings }: PrinterContext,
    recipient: Recipient,
  ): Promise<PublishScript> {
    const { printer } = details;
    const deployable = deployableOf(this.#parts.store, details);
    const omitsDriver =
      !recipient.isLimited && sharedDrivers(siblings).get(printer.id) === deployable.driver.id;
    const builder = new AppBuilder(this.#parts, recipient.packageUrl);
    const apps = omitsDriver ? [await builder.ofDriver(deployable.driver)] : [];
    apps.push(await builder.ofPrinter(details, deployable, omitsDriver));
    // Findings that name other printers of the client are only for recipients that may see those.
    const known = findings.filter(({ kind }) => recipient.knowsAll || !neighbourKinds.includes(kind));
    const published = { title: printer.name, apps, attention: attentionOf([{ printer, findings: known }]) };
    return this.#render(scriptName(printer), published, builder, recipient);
  }

  /** Publishes all deployable printers of a client. @throws UserError "invalid" with the remedy */
  async ofClient(client: Client, group: ClientGroup, recipient: Recipient): Promise<PublishScript> {
    checkIcons(this.#parts.store, requirePrinters(group));
    return this.#parts.forGroup(group, async (deployables) => {
      const builder = new AppBuilder(this.#parts, recipient.packageUrl);
      const { apps, leftOut } = await this.#appsOf(client, deployables, builder, recipient);
      const skipped = group.leftOut.map(({ row, reason }) => ({
        name: row.printer.name,
        reason: reason.text,
      }));
      const together = await orRefusal(() => builder.ofClient(client, group.included, deployables));
      const published = {
        title: client.name,
        apps,
        attention: attentionOf(group.included),
        leftOut: [...skipped, ...leftOut],
        together: together.value,
        togetherRefusal: together.refusal,
      };
      return this.#render(clientFileName(client), published, builder, recipient);
    });
  }

  /** Publishes a driver. @throws UserError "invalid" with the remedy */
  async ofDriver(driver: Driver, recipient: Recipient): Promise<PublishScript> {
    const builder = new AppBuilder(this.#parts, recipient.packageUrl);
    const published = { title: packageTitle(driver), apps: [await builder.ofDriver(driver)] };
    return this.#render(driverFileName(driver), published, builder, recipient);
  }

  /** The apps of a client: shared drivers first, because printers depend on them. */
  async #appsOf(
    client: Client,
    deployables: readonly Deployable[],
    builder: AppBuilder,
    { isLimited }: Recipient,
  ) {
    const apps: PublishedApp[] = [];
    const leftOut: { name: string; reason: string }[] = [];
    const shared = isLimited ? new Map<number, number>() : sharedDrivers(deployables);
    const separate = new Set(shared.values());
    const drivers = driversIn({ printers: deployables }).filter(({ id }) => separate.has(id));
    for (const driver of drivers) apps.push(await builder.ofDriver(driver));
    for (const deployable of deployables) {
      // A client may have a thousand printers, so other requests get their turn between two of them.
      await setImmediate();
      const { printer } = deployable;
      const omitsDriver = shared.has(printer.id);
      const { value, refusal } = await orRefusal(() =>
        builder.ofPrinter({ printer, client }, deployable, omitsDriver),
      );
      if (value === undefined) leftOut.push({ name: printer.name, reason: refusal });
      else apps.push(value);
    }
    if (leftOut.length === deployables.length) throw new UserError("invalid", leftOut[0]?.reason ?? "");
    return { apps, leftOut };
  }

  async #render(
    name: string,
    published: PublicationParts,
    { icons }: AppBuilder,
    { service, scriptUrl, knowsAll, isLimited }: Recipient,
  ): Promise<PublishScript> {
    const { store, workers, clock } = this.#parts;
    const records = isLimited ? noRecords : store.recordNumbers();
    const publication = {
      logName: `Platen-publish-${name}`,
      instance: instanceOf(store),
      madeAt: clock(),
      service,
      url: scriptUrl,
      attention: [],
      leftOut: [],
      together: undefined,
      togetherRefusal: "",
      ...published,
      icons,
      records: knowsAll ? records : undefined,
    };
    const script = await workers.renderPublish({ publication, records });
    return { ...script, fileName: scriptFileName("publish", name) };
  }
}

/** Findings about a printer that name other printers of its client. */
const neighbourKinds: readonly Finding["kind"][] = ["same-name", "same-address"];

const noNumbers = { ids: [], last: 0 };
const noRecords = { printers: noNumbers, clients: noNumbers, drivers: noNumbers };

interface AppParts {
  readonly facts: DeploymentFacts;
  /** The package's file name without extension. */
  readonly name: string;
  readonly contents: Contents & { readonly settings: string };
  readonly omitsDriver?: boolean;
  readonly picture?: Picture | undefined;
  readonly dependsOn?: readonly LinkOwner[];
}

/** Describes the apps of one script, each with its package. */
class AppBuilder {
  readonly #parts: Parts;
  readonly #packageUrl: PackageUrl;
  /** The icons of all apps so far, by SHA-256 in hex. */
  readonly icons = new Map<string, Uint8Array>();

  constructor(parts: Parts, packageUrl: PackageUrl) {
    this.#parts = parts;
    this.#packageUrl = packageUrl;
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
    if (picture !== undefined) this.icons.set(picture.file.sha256, picture.bytes);
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
    return this.#make({ kind: "client", id: client.id }, { facts, name: clientFileName(client), contents });
  }

  async #make(owner: LinkOwner, parts: AppParts): Promise<PublishedApp> {
    const { facts, contents, omitsDriver = false, dependsOn = [] } = parts;
    const icon = parts.picture?.file;
    const { context } = this.#parts;
    const fileName = parts.name + intune.extension;
    const fields = graphFields(facts, owner, fileName);
    if (fields === undefined) throw noMachine(facts.name);
    const bare = await intune.build(contents, context);
    const file = icon ? await intune.build({ ...contents, icon }, context) : bare;
    const { etag, size } = file;
    const detectionSha256 = await file.detectionDigest();
    return {
      ...owner,
      revision: etagRevision(bare.etag),
      package: { url: this.#packageUrl(owner, omitsDriver), etag, fileName, size, detectionSha256 },
      fields,
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

/** Printers to name in a sentence about several. */
const namedPrinters = 5;

/** Findings to check before printers are deployed, each once, with the names of its printers. */
function attentionOf(
  rows: readonly { readonly printer: { readonly name: string }; readonly findings: readonly Finding[] }[],
): string[] {
  const names = new Map<string, string[]>();
  for (const { printer, findings } of rows) for (const { text } of findings) addTo(names, text, printer.name);
  return [...names].map(([text, printers]) => `${firstOf(printers, namedPrinters)}: ${text}`);
}

/** The result of `work`, or the message of a UserError "invalid". */
async function orRefusal<T>(
  work: () => Promise<T>,
): Promise<{ readonly value: T | undefined; readonly refusal: string }> {
  try {
    return { value: await work(), refusal: "" };
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== "invalid") throw error;
    return { value: undefined, refusal: error.message };
  }
}

/** For all different icons in one script together. */
const iconsLimitBytes = 8 * 1024 * 1024;

/** @throws UserError "invalid" if the printers' icons are too large for one script */
function checkIcons({ icons }: Store, { title, ids }: PrinterGroup): void {
  const sizes = new Map(ids.flatMap((id) => icons.find(id) ?? []).map(({ sha256, size }) => [sha256, size]));
  const sum = [...sizes.values()].reduce((before, size) => before + size, 0);
  if (sum <= iconsLimitBytes) return;
  const message = `The icons of “${title}” are larger than 8 MB together. Publish the printers separately, or use one icon.`;
  throw new UserError("invalid", message);
}
