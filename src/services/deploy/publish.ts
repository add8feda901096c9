import { setImmediate } from "node:timers/promises";
import type { LinkOwner } from "../../domain/access/link.ts";
import { addTo } from "../../domain/collections.ts";
import { sharedDrivers } from "../../domain/deploy/deployment-choice.ts";
import { type Driver, driverTitle } from "../../domain/drivers/driver.ts";
import { UserError } from "../../domain/errors.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { Finding } from "../../domain/printers/findings.ts";
import type { PrinterDetails, StatedPrinter } from "../../domain/printers/listings.ts";
import { firstOf } from "../../domain/text.ts";
import type { Contents } from "../../pkg/formats/contents.ts";
import type { PackageContext } from "../../pkg/formats/format.ts";
import { graphFields } from "../../pkg/formats/graph-app.ts";
import { mdm } from "../../pkg/formats/mdm.ts";
import {
  type Deployable,
  deploymentApart,
  deploymentOf,
  deploymentOfMany,
  driversIn,
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

/** Works on a few groups of printers at once. */
export type InTurn = <T>(group: PrinterGroup, work: (printers: Deployable[]) => Promise<T>) => Promise<T>;

interface Parts {
  readonly store: Store;
  readonly workers: Workers;
  readonly context: PackageContext;
  readonly contents: PackageContents;
  readonly drivers: DriverPackages;
  readonly clock: () => number;
  readonly inTurn: InTurn;
}

/** Where a package is downloaded; empty where that cannot be said. */
type PackageUrl = (of: LinkOwner, isApart: boolean) => string;

/** For whom a script is. */
interface Recipient {
  /** The service's address; empty where it cannot be said. */
  readonly service: string;
  /** Where they can fetch the script again without signing in; empty likewise. */
  readonly scriptUrl: string;
  readonly packageUrl: PackageUrl;
  /** Whether they may know which records there are. */
  readonly knowsAll: boolean;
  /**
   * Whether they reach one client or printer alone. A driver's own package has the models of all clients, so that each
   * printer's package carries its driver then.
   */
  readonly isLimited: boolean;
}

/** What is known of a printer besides itself. */
interface Around {
  readonly findings: readonly Finding[];
  /** What is deployed of its client, the printer with it. */
  readonly siblings: readonly StatedPrinter[];
}

interface PublishScript extends PublishedScript {
  readonly fileName: string;
}

/** What differs between a printer, a client and a driver. */
type Published = Pick<Publication, "title" | "apps"> &
  Partial<Pick<Publication, "attention" | "leftOut" | "together" | "togetherRefusal">>;

/** Makes scripts that put packages into Intune. */
export class Publisher {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * One printer, with its driver as an app of its own where other printers of its client have it, too.
   * @throws UserError "invalid" with the remedy
   */
  async ofPrinter(
    details: PrinterDetails,
    { findings, siblings }: Around,
    recipient: Recipient,
  ): Promise<PublishScript> {
    const { printer } = details;
    const deployable = deployableOf(this.#parts.store, details);
    const isApart = !recipient.isLimited && sharedDrivers(siblings).get(printer.id) === deployable.driver.id;
    const made = this.#apps(recipient);
    const apps = isApart ? [await made.ofDriver(deployable.driver)] : [];
    apps.push(await made.ofPrinter(details, deployable, isApart));
    // Some findings name the printer's neighbours.
    const known = findings.filter(({ kind }) => recipient.knowsAll || !ofNeighbours.includes(kind));
    const published = { title: printer.name, apps, attention: attentionOf([{ printer, findings: known }]) };
    return this.#render(scriptName(printer), published, made, recipient);
  }

  /** All printers of a client that can be deployed. @throws UserError "invalid" with the remedy */
  async ofClient(client: Client, group: ClientGroup, recipient: Recipient): Promise<PublishScript> {
    checkIcons(this.#parts.store, requirePrinters(group));
    return this.#parts.inTurn(group, async (deployables) => {
      const made = this.#apps(recipient);
      const { apps, leftOut } = await this.#appsOf(client, deployables, made, recipient);
      const before = group.leftOut.map(({ row, reason }) => ({
        name: row.printer.name,
        reason: reason.text,
      }));
      const together = await refusable(() => made.ofClient(client, group.goesIn, deployables));
      const published = {
        title: client.name,
        apps,
        attention: attentionOf(group.goesIn),
        leftOut: [...before, ...leftOut],
        together: together.value,
        togetherRefusal: together.refusal,
      };
      return this.#render(clientFileName(client), published, made, recipient);
    });
  }

  /** A driver by itself. @throws UserError "invalid" with the remedy */
  async ofDriver(driver: Driver, recipient: Recipient): Promise<PublishScript> {
    const made = this.#apps(recipient);
    const published = { title: driverTitle(driver), apps: [await made.ofDriver(driver)] };
    return this.#render(driverFileName(driver), published, made, recipient);
  }

  #apps({ packageUrl }: Recipient): PublishedApps {
    return new PublishedApps(this.#parts, packageUrl);
  }

  /** Drivers that are shared first. */
  async #appsOf(
    client: Client,
    deployables: readonly Deployable[],
    made: PublishedApps,
    { isLimited }: Recipient,
  ) {
    const apps: PublishedApp[] = [];
    const leftOut: { name: string; reason: string }[] = [];
    const shared = isLimited ? new Map<number, number>() : sharedDrivers(deployables);
    const alone = new Set(shared.values());
    const drivers = driversIn({ printers: deployables }).filter(({ id }) => alone.has(id));
    for (const driver of drivers) apps.push(await made.ofDriver(driver));
    for (const deployable of deployables) {
      // A client may have a thousand printers: other requests are answered between two of them.
      await setImmediate();
      const { printer } = deployable;
      const isApart = shared.has(printer.id);
      const { value, refusal } = await refusable(() =>
        made.ofPrinter({ printer, client }, deployable, isApart),
      );
      if (value === undefined) leftOut.push({ name: printer.name, reason: refusal });
      else apps.push(value);
    }
    if (leftOut.length === deployables.length) throw new UserError("invalid", leftOut[0]?.reason ?? "");
    return { apps, leftOut };
  }

  async #render(
    name: string,
    published: Published,
    { icons }: PublishedApps,
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

/** What is said of a printer because of others of its client. */
const ofNeighbours: readonly Finding["kind"][] = ["same-name", "same-address"];

const none = { ids: [], last: 0 };
const noRecords = { printers: none, clients: none, drivers: none };

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
class PublishedApps {
  readonly #parts: Parts;
  readonly #packageUrl: PackageUrl;
  /** Of the apps that were made, by digest. */
  readonly icons = new Map<string, Uint8Array>();

  constructor(parts: Parts, packageUrl: PackageUrl) {
    this.#parts = parts;
    this.#packageUrl = packageUrl;
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
    const { context } = this.#parts;
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
      package: { url: this.#packageUrl(owner, isApart), etag, fileName, size, detectionSha256 },
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

/** So many printers are named of those of which the same is to be said. */
const namedPrinters = 5;

/** What there is to look at before printers are deployed, each once. */
function attentionOf(
  rows: readonly { readonly printer: { readonly name: string }; readonly findings: readonly Finding[] }[],
): string[] {
  const names = new Map<string, string[]>();
  for (const { printer, findings } of rows) for (const { text } of findings) addTo(names, text, printer.name);
  return [...names].map(([text, of]) => `${firstOf(of, namedPrinters)}: ${text}`);
}

/** What may be refused for a reason that people are told. */
async function refusable<T>(
  work: () => Promise<T>,
): Promise<{ readonly value: T | undefined; readonly refusal: string }> {
  try {
    return { value: await work(), refusal: "" };
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== "invalid") throw error;
    return { value: undefined, refusal: error.message };
  }
}

/** Of all pictures that one script carries, each once. */
const iconsLimitBytes = 8 * 1024 * 1024;

/** @throws UserError "invalid" where the printers' pictures are more than one script can carry */
function checkIcons({ icons }: Store, { title, ids }: PrinterGroup): void {
  const sizes = new Map(ids.flatMap((id) => icons.find(id) ?? []).map(({ sha256, size }) => [sha256, size]));
  const sum = [...sizes.values()].reduce((before, size) => before + size, 0);
  if (sum <= iconsLimitBytes) return;
  throw new UserError(
    "invalid",
    `The icons of “${title}” have more than 8 MB together, which is more than one script carries: publish its printers one by one, or give several of them one icon.`,
  );
}
