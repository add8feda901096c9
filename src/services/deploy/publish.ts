import { setImmediate } from "node:timers/promises";
import { addTo, LruCache } from "../../domain/collections.ts";
import { sharedDrivers } from "../../domain/deploy/deployment-choice.ts";
import { type Driver, packageTitle } from "../../domain/drivers/driver.ts";
import { UserError } from "../../domain/errors.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { Finding } from "../../domain/printers/findings.ts";
import type { PrinterDetails, PrinterWithState } from "../../domain/printers/listings.ts";
import { counted, firstOf } from "../../domain/text.ts";
import { type Deployable, driversIn } from "../../pkg/scripts/deployment.ts";
import type { Publication, PublicationPart, PublishedApp } from "../../pkg/scripts/publish-script.ts";
import type { Workers } from "../../workers/pool.ts";
import type { PublishedScript } from "../../workers/tasks.ts";
import { type ClientGroup, type PrinterGroup, requirePrinters } from "../printers/printer-group.ts";
import { AppBuilder, type BuilderParts, type BuiltPackage, type PackageUrl } from "./app-builder.ts";
import { deployableOf } from "./deployable.ts";
import { clientFileName, driverFileName, scriptFileName, scriptName } from "./download-names.ts";
import { instanceOf } from "./package-facts.ts";

/** Reads the printers of a group and runs `work` with them, for a few groups at a time. */
export type RunForGroup = <T>(
  group: PrinterGroup,
  work: (printers: Deployable[]) => Promise<T>,
) => Promise<T>;

interface Parts extends Omit<BuilderParts, "built"> {
  readonly workers: Workers;
  readonly clock: () => number;
  readonly forGroup: RunForGroup;
}

/** The URLs for one part of a script. */
interface PartUrls {
  /** Where the script of this part alone can be downloaded again without signing in. Empty if the service's address is unknown. */
  readonly scriptUrl: string;
  readonly packageUrl: PackageUrl;
}

interface Recipient extends PartUrls {
  /** Aborted when nobody waits for the script any more. */
  readonly signal?: AbortSignal | undefined;
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

export interface PublishScript extends PublishedScript {
  readonly fileName: string;
}

const emptyPart = {
  client: "",
  tenant: "",
  attention: [],
  leftOut: [],
  together: undefined,
  togetherRefusal: "",
};

/** The packages whose facts are in memory. Each has about 500 bytes. */
const maxBuilt = 12_000;

export class Publisher {
  readonly #parts: Parts & BuilderParts;

  constructor(parts: Parts) {
    const built = new LruCache<BuiltPackage>({ count: maxBuilt, weight: maxBuilt, weigh: () => 1 });
    this.#parts = { ...parts, built };
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
    const builder = new AppBuilder(this.#parts, [printer.id]);
    const { packageUrl } = recipient;
    const apps = omitsDriver ? [await builder.ofDriver(deployable.driver, packageUrl)] : [];
    apps.push(await builder.ofPrinter(details, deployable, omitsDriver, packageUrl));
    // Findings that name other printers of the client are only for recipients that may see those.
    const known = findings.filter(({ kind }) => recipient.knowsAll || !neighbourKinds.includes(kind));
    const part = {
      ...emptyPart,
      title: printer.name,
      ...clientOf(details.client),
      url: recipient.scriptUrl,
      apps,
      attention: attentionOf([{ printer, findings: known }]),
    };
    return this.#render(scriptName(printer), [part], builder, recipient);
  }

  /** Publishes all deployable printers of a client. @throws UserError "invalid" with the remedy */
  async ofClient(client: Client, group: ClientGroup, recipient: Recipient): Promise<PublishScript> {
    const builder = new AppBuilder(this.#parts, requirePrinters(group).ids);
    builder.checkIcons(group.title, "printers");
    const part = await this.#partOf(client, group, recipient, builder);
    return this.#render(clientFileName(client), [part], builder, recipient);
  }

  /**
   * Publishes the printers of all clients, each to the tenant of its client.
   * @param others the number of printers without a client
   * @throws UserError "invalid" with the remedy
   */
  async ofAll(
    clients: readonly { readonly client: Client; readonly group: ClientGroup; readonly urls: PartUrls }[],
    others: number,
    rights: Pick<Recipient, "knowsAll" | "signal">,
  ): Promise<PublishScript> {
    const hasPrinters = clients.some(({ group }) => group.included.length + group.leftOut.length > 0);
    if (!hasPrinters) throw new UserError("invalid", "No client has printers. Add one first.");
    const builder = new AppBuilder(
      this.#parts,
      clients.flatMap(({ group }) => group.ids),
    );
    builder.checkIcons("All clients", "clients");
    const parts: PublicationPart[] = [];
    // The tenants of clients without printers may still have apps to remove.
    for (const { client, group, urls } of clients) {
      const recipient = { ...rights, ...urls, isLimited: false };
      const { value, refusal } = await orRefusal(() => this.#partOf(client, group, recipient, builder));
      parts.push(value ?? refusedPart(client, urls.scriptUrl, refusal));
    }
    if (others > 0) parts.push({ ...emptyPart, ...withoutClient(others) });
    return this.#render("all-clients", parts, builder, { ...rights, isLimited: false }, true);
  }

  /** A client's part, also if all of its printers are left out. */
  async #partOf(
    client: Client,
    group: ClientGroup,
    recipient: Recipient,
    builder: AppBuilder,
  ): Promise<PublicationPart> {
    const skipped = group.leftOut.map(({ row, reason }) => ({ name: row.printer.name, reason: reason.text }));
    const part = { ...emptyPart, title: client.name, ...clientOf(client), url: recipient.scriptUrl };
    if (group.included.length === 0) return { ...part, apps: [], leftOut: skipped };
    return this.#parts.forGroup(group, async (deployables) => {
      const { apps, leftOut } = await this.#appsOf(client, deployables, recipient, builder);
      const together = await orRefusal(() =>
        builder.ofClient(client, group.included, deployables, recipient.packageUrl),
      );
      return {
        ...part,
        apps,
        attention: attentionOf(group.included),
        leftOut: [...skipped, ...leftOut],
        together: together.value,
        togetherRefusal: together.refusal,
      };
    });
  }

  /** Publishes a driver. @throws UserError "invalid" with the remedy */
  async ofDriver(driver: Driver, recipient: Recipient): Promise<PublishScript> {
    const builder = new AppBuilder(this.#parts, []);
    const apps = [await builder.ofDriver(driver, recipient.packageUrl)];
    const part = { ...emptyPart, title: packageTitle(driver), url: recipient.scriptUrl, apps };
    return this.#render(driverFileName(driver), [part], builder, recipient);
  }

  /** The apps of a client: shared drivers first, because printers depend on them. */
  async #appsOf(
    client: Client,
    deployables: readonly Deployable[],
    { packageUrl, isLimited, signal }: Recipient,
    builder: AppBuilder,
  ) {
    const apps: PublishedApp[] = [];
    const leftOut: { name: string; reason: string }[] = [];
    const shared = isLimited ? new Map<number, number>() : sharedDrivers(deployables);
    const separate = new Set(shared.values());
    const drivers = driversIn({ printers: deployables }).filter(({ id }) => separate.has(id));
    for (const driver of drivers) apps.push(await builder.ofDriver(driver, packageUrl));
    for (const deployable of deployables) {
      // A client may have a thousand printers, so other requests get their turn between two of them.
      await setImmediate();
      signal?.throwIfAborted();
      const { printer } = deployable;
      const omitsDriver = shared.has(printer.id);
      const { value, refusal } = await orRefusal(() =>
        builder.ofPrinter({ printer, client }, deployable, omitsDriver, packageUrl),
      );
      if (value === undefined) leftOut.push({ name: printer.name, reason: refusal });
      else apps.push(value);
    }
    if (leftOut.length === deployables.length) throw new UserError("invalid", leftOut[0]?.reason ?? "");
    return { apps, leftOut };
  }

  async #render(
    name: string,
    parts: readonly PublicationPart[],
    builder: AppBuilder,
    { knowsAll, isLimited, signal }: Pick<Recipient, "knowsAll" | "isLimited" | "signal">,
    isForAll = false,
  ): Promise<PublishScript> {
    const { store, workers, clock } = this.#parts;
    const records = isLimited ? noRecords : store.recordNumbers();
    const publication: Publication = {
      logName: `Platen-publish-${name}`,
      instance: instanceOf(store),
      isForAll,
      madeAt: clock(),
      parts,
      icons: await builder.icons(),
      records: knowsAll ? records : undefined,
    };
    signal?.throwIfAborted();
    const script = await workers.renderPublish({ publication, records });
    return { ...script, fileName: scriptFileName("publish", name) };
  }
}

function clientOf(client: Pick<Client, "name" | "tenant_id"> | undefined) {
  return { client: client?.name ?? "", tenant: client?.tenant_id ?? "" };
}

/** The part of a client of which nothing can be published. */
function refusedPart(client: Client, url: string, reason: string): PublicationPart {
  return {
    ...emptyPart,
    title: client.name,
    ...clientOf(client),
    url,
    apps: [],
    leftOut: [{ name: client.name, reason }],
  };
}

/** The part that names the printers without a client, because no tenant is known for them. */
function withoutClient(count: number): Pick<PublicationPart, "title" | "url" | "apps" | "leftOut"> {
  const name = counted(count, "printer");
  const reason = "Without a client. Choose one in Platen.";
  return { title: "Printers without a client", url: "", apps: [], leftOut: [{ name, reason }] };
}

/** Findings about a printer that name other printers of its client. */
const neighbourKinds: readonly Finding["kind"][] = ["same-name", "same-address"];

const noNumbers = { ids: [], last: 0 };
const noRecords = { printers: noNumbers, clients: noNumbers, drivers: noNumbers };

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
