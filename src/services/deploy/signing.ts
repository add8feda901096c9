import { createHash } from "node:crypto";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { LinkOwner } from "../../domain/access/link.ts";
import { groupBy, LruCache } from "../../domain/collections.ts";
import { chooseDeployment } from "../../domain/deploy/deployment-choice.ts";
import { blockIn, type SignedCount, signerOf } from "../../domain/deploy/signature.ts";
import type { Driver } from "../../domain/drivers/driver.ts";
import { UserError } from "../../domain/errors.ts";
import type { PrinterWithState } from "../../domain/printers/listings.ts";
import { combineRequirements } from "../../domain/subnet.ts";
import {
  type Deployable,
  type Deployment,
  deploymentOf,
  deploymentOfMany,
  type ScriptSettings,
  scriptSettings,
  withoutDrivers,
} from "../../pkg/scripts/deployment.ts";
import { driverScriptSettings } from "../../pkg/scripts/driver-deployment.ts";
import { type Signatures, type SignedKind, signedKinds } from "../../pkg/scripts/signatures.ts";
import type { Store } from "../../store/store.ts";
import type { Workers } from "../../workers/pool.ts";
import { requireModels } from "../drivers/driver-models.ts";
import type { Overview } from "../overview.ts";
import { deployableOf, deployablesOf } from "./deployable.ts";
import {
  clientFileName,
  driverFileName,
  scriptFileName,
  scriptName,
  withoutDriverName,
} from "./download-names.ts";

/** A script that packages contain, or a rule of an app in Intune. */
interface SignableScript {
  /** SHA-256 in hex. */
  readonly digest: string;
  /** A file name for people, such as `install-front-desk.ps1`. */
  readonly name: string;
  /** The printers, clients and drivers that it is for. */
  readonly records: readonly LinkOwner[];
}

/** A script, and how to make it again. */
interface FoundScript extends SignableScript {
  readonly records: LinkOwner[];
  readonly kind: SignedKind;
  readonly omitsDriver: boolean;
}

/** A search for all scripts, and the version of the store that it is for. */
interface Search {
  readonly version: number;
  /** Undefined if it was skipped. */
  readonly scripts: Promise<Map<string, FoundScript> | undefined>;
}

interface Parts {
  readonly store: Store;
  readonly workers: Workers;
  readonly overview: Overview;
}

/** The maximum number of deployments whose scripts' digests are in memory. Each has about 400 bytes. */
const maxDigested = 30_000;

/** How long a page waits for the number of all signed scripts. */
const longestWaitMs = 500;

/** Knows which scripts there are and which of them are signed. The key of a signature never comes here. */
export class Signing {
  readonly #parts: Parts;
  readonly #digests = new LruCache<Readonly<Record<SignedKind, string>>>({
    count: maxDigested,
    weight: maxDigested,
    weigh: () => 1,
  });
  #found: Search | undefined;
  /** Ends with the last search that was started. */
  #running: Promise<unknown> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whether the shop signs its scripts. */
  get isUsed(): boolean {
    return this.#parts.store.signatures.digests.size > 0;
  }

  /** The scripts that packages contain now: all of them, or those without a signature. */
  async list(which: "all" | "unsigned"): Promise<SignableScript[]> {
    const scripts = [...(await this.#scripts()).values()];
    return scripts
      .filter(({ digest }) => which === "all" || !this.#isSigned(digest))
      .map(({ digest, name, records }) => ({ digest, name, records }));
  }

  /** How many of a record's scripts are signed. Undefined where nobody signs. */
  async count(owner: LinkOwner): Promise<SignedCount | undefined> {
    return this.isUsed ? this.#countOf(await this.#digestsFor(owner)) : undefined;
  }

  /**
   * How many of all scripts are signed. Undefined where nobody signs, and as long as a large shop is still counted: pages do
   * not wait longer for it.
   */
  async countAll(): Promise<SignedCount | undefined> {
    if (!this.isUsed) return undefined;
    const scripts = await Promise.race([
      this.#scripts(),
      setTimeout(longestWaitMs, undefined, { ref: false }),
    ]);
    if (scripts === undefined) return undefined;
    const damaged = [...this.#parts.store.signatures.damaged].flatMap(
      (digest) => scripts.get(digest)?.name ?? [],
    );
    return { ...(await this.#countOf([...scripts.keys()])), damaged };
  }

  #isSigned(digest: string): boolean {
    const { digests, damaged } = this.#parts.store.signatures;
    return digests.has(digest) && !damaged.has(digest);
  }

  async #countOf(digests: readonly string[]): Promise<SignedCount> {
    const signed = digests.filter((digest) => this.#isSigned(digest));
    const block = signed[0] && (await this.#parts.store.signatures.read(signed[0]).catch(noneOrThrow));
    return {
      signed: signed.length,
      total: digests.length,
      signer: (block && orNone(() => signerOf(block))) || "",
    };
  }

  /** The digests of a record's scripts. None if it cannot be deployed. */
  async #digestsFor(owner: LinkOwner): Promise<string[]> {
    const found = new Set<string>();
    for (const omitsDriver of owner.kind === "driver" ? [false] : [false, true]) {
      const settings = await this.#settingsOf(owner, omitsDriver).catch(noneOrThrow);
      if (settings === undefined) continue;
      const digests = await this.#digestsOf(JSON.stringify(settings));
      for (const kind of kindsOf(settings)) found.add(digests[kind]);
    }
    return [...found];
  }

  /** A script's bytes, without a signature. @throws UserError "not-found" if no package contains it */
  async script(digest: string): Promise<Buffer> {
    const found = (await this.#scripts()).get(digest);
    const owner = found?.records[0];
    if (found === undefined || owner === undefined) throw unknownScript();
    const settings = JSON.stringify(await this.#settingsOf(owner, found.omitsDriver));
    const bytes = Buffer.from(await this.#parts.workers.renderScript({ kind: found.kind, settings }));
    // A record may have changed meanwhile.
    if (digestOf(bytes) !== digest) throw unknownScript();
    return bytes;
  }

  /** Keeps the signature of a script. @returns the script's name */
  async put(digest: string, block: Buffer): Promise<string> {
    const name = (await this.#scripts()).get(digest)?.name ?? digest;
    await this.#parts.store.signatures.put(digest, block);
    await this.#forgetOld();
    return name;
  }

  /** Deletes all signatures. */
  async removeAll(): Promise<void> {
    const { signatures } = this.#parts.store;
    await signatures.remove([...signatures.digests.keys()]);
  }

  /** The blocks of a deployment's scripts. */
  async signaturesOf(settings: ScriptSettings): Promise<Signatures> {
    if (!this.isUsed) return {};
    const digests = await this.#digestsOf(JSON.stringify(settings));
    const blocks = await Promise.all(
      signedKinds.map(
        async (kind) => [kind, await this.#parts.store.signatures.read(digests[kind])] as const,
      ),
    );
    return Object.fromEntries(
      blocks.flatMap(([kind, block]) => (block ? [[kind, block.toString("latin1")]] : [])),
    );
  }

  /** A script with its signature, if it has one. */
  async signed(script: Uint8Array): Promise<Uint8Array> {
    if (!this.isUsed) return script;
    const block = await this.#parts.store.signatures.read(digestOf(script));
    return block ? Buffer.concat([script, block]) : script;
  }

  /** What signs a downloaded script, in a sentence. Undefined where nobody signs. */
  async sentenceOn(script: Buffer): Promise<string | undefined> {
    if (!this.isUsed) return undefined;
    const block = blockIn(script);
    if (block) return `Signed by ${orNone(() => signerOf(block)) ?? "an unknown certificate"}.`;
    if ((await this.#scripts()).has(digestOf(script))) return "Not signed yet.";
    return "sign.ps1 does not sign this script: it contains an address of Platen, or is not in packages.";
  }

  /** All scripts. One search runs at a time, and one that is out of date before it begins is skipped. */
  async #scripts(): Promise<Map<string, FoundScript>> {
    for (;;) {
      const version = this.#parts.store.version();
      if (this.#found?.version !== version) this.#found = this.#startSearch(version);
      const found = this.#found;
      try {
        const scripts = await found.scripts;
        if (scripts !== undefined) return scripts;
      } catch (error) {
        if (this.#found === found) this.#found = undefined;
        throw error;
      }
    }
  }

  #startSearch(version: number): Search {
    const search: Search = {
      version,
      scripts: this.#running.then(() => (this.#found === search ? this.#findAll() : undefined)),
    };
    this.#running = search.scripts.catch(() => undefined);
    return search;
  }

  async #findAll(): Promise<Map<string, FoundScript>> {
    const scripts = new Map<string, FoundScript>();
    const { printers, drivers } = await this.#parts.overview.read();
    for (const rows of groupBy(printers, ({ client }) => client?.id).values())
      await this.#addPrinters(scripts, rows);
    for (const { id } of drivers) {
      const whole = this.#parts.store.drivers.find(id);
      const settings = whole && orNone(() => this.#driverSettings(whole));
      if (settings)
        await this.#add(scripts, { kind: "driver", id: whole.id }, driverFileName(whole), settings);
    }
    return scripts;
  }

  /** @param rows the printers of one client, or those without one */
  async #addPrinters(scripts: Map<string, FoundScript>, rows: readonly PrinterWithState[]): Promise<void> {
    const { store } = this.#parts;
    const known = new Map<number, Driver>();
    const deployables = new Map<number, Deployable>();
    for (const printer of store.printers.findMany(rows.map((row) => row.printer.id))) {
      // Other requests get their turn between two printers.
      await setImmediate();
      const client = printer.client_id === null ? undefined : store.clients.find(printer.client_id);
      const deployable = orNone(() => deployableOf(store, { printer, client }, known));
      if (deployable === undefined) continue;
      deployables.set(printer.id, deployable);
      const owner = { kind: "printer", id: printer.id } as const;
      await this.#addBoth(scripts, owner, scriptName(printer), deploymentOf(deployable));
    }
    const client = rows[0]?.client;
    const included = chooseDeployment(rows).included.flatMap(
      ({ printer }) => deployables.get(printer.id) ?? [],
    );
    if (client === undefined || included.length === 0) return;
    const owner = { kind: "client", id: client.id } as const;
    await this.#addBoth(scripts, owner, clientFileName(client), deploymentOfMany(client.name, included));
  }

  /** Adds the scripts of a deployment with its drivers, and without them. */
  async #addBoth(scripts: Map<string, FoundScript>, owner: LinkOwner, name: string, deployment: Deployment) {
    await this.#add(scripts, owner, name, scriptSettings(deployment));
    await this.#add(scripts, owner, name, scriptSettings(withoutDrivers(deployment)), true);
  }

  async #add(
    scripts: Map<string, FoundScript>,
    owner: LinkOwner,
    name: string,
    settings: ScriptSettings,
    omitsDriver = false,
  ): Promise<void> {
    const digests = await this.#digestsOf(JSON.stringify(settings));
    for (const kind of kindsOf(settings)) {
      const digest = digests[kind];
      const known = scripts.get(digest);
      if (known === undefined) {
        const fileName = scriptFileName(kind, withoutDriverName(name, omitsDriver));
        scripts.set(digest, { digest, name: fileName, records: [owner], kind, omitsDriver });
      } else if (!known.records.some(({ kind: other, id }) => other === owner.kind && id === owner.id))
        known.records.push(owner);
    }
  }

  /** @param settings as JSON */
  #digestsOf(settings: string): Promise<Readonly<Record<SignedKind, string>>> {
    return this.#digests.get(digestOf(settings), () => this.#parts.workers.scriptDigests({ settings }));
  }

  /** @throws UserError if the record is gone or cannot be deployed */
  async #settingsOf({ kind, id }: LinkOwner, omitsDriver: boolean): Promise<ScriptSettings> {
    const { store, overview } = this.#parts;
    if (kind === "driver") return this.#driverSettings(store.drivers.get(id));
    const deploymentFor = async (): Promise<Deployment> => {
      if (kind === "printer") return deploymentOf(deployableOf(store, store.printers.get(id)));
      const { name } = store.clients.get(id);
      const { included } = chooseDeployment(await overview.ofClient(id));
      const printers = store.printers.findMany(included.map(({ printer }) => printer.id));
      return deploymentOfMany(name, deployablesOf(store, printers));
    };
    const deployment = await deploymentFor();
    return scriptSettings(omitsDriver ? withoutDrivers(deployment) : deployment);
  }

  #driverSettings(driver: Driver): ScriptSettings {
    return driverScriptSettings({ driver, models: requireModels(this.#parts.store, driver) });
  }

  /** Deletes signatures of scripts that no longer exist, when there are many. A change that is undone finds its signature again. */
  async #forgetOld(): Promise<void> {
    const { signatures } = this.#parts.store;
    const scripts = await this.#scripts();
    if (signatures.digests.size <= 2 * scripts.size + 1000) return;
    await signatures.remove([...signatures.digests.keys()].filter((digest) => !scripts.has(digest)));
  }
}

function unknownScript(): UserError {
  return new UserError(
    "not-found",
    "No package contains this script now. Scripts with an address of Platen are not signed here.",
  );
}

function digestOf(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The result of `make`. Undefined if it throws a UserError, because the record cannot be deployed. */
function orNone<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    return noneOrThrow(error);
  }
}

function noneOrThrow(error: unknown): undefined {
  if (error instanceof UserError) return undefined;
  throw error;
}

/** The kinds of scripts that packages and apps with these settings have. Intune asks a requirement script only if all printers need one. */
function kindsOf({ Printers }: ScriptSettings): readonly SignedKind[] {
  const printers = (Printers ?? []) as unknown as readonly PlaceSettings[];
  const places = printers.map(({ Subnets = [], RequiresReachable = false }) => ({
    subnets: Subnets,
    requires_reachable: RequiresReachable,
  }));
  const hasRequirement = combineRequirements(places)?.isPartial === false;
  return hasRequirement ? signedKinds : signedKinds.filter((kind) => kind !== "requirement");
}

/** What a printer's settings say about the machines that get it. */
interface PlaceSettings {
  readonly Subnets?: readonly string[];
  readonly RequiresReachable?: boolean;
}
