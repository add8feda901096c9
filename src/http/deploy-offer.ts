import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import { type Config, needsSignIn } from "../config.ts";
import { mayUse } from "../domain/access.ts";
import { driversOf } from "../domain/arm64-driver.ts";
import type { Client } from "../domain/client.ts";
import { type Driver, type DriverSummary, driverPackageName, shippedBy } from "../domain/driver.ts";
import type { PrinterDetails, StatedPrinter } from "../domain/listings.ts";
import { uploadedAmong } from "../domain/windows-drivers.ts";
import type { DeployOffer } from "../html/deploy.ts";
import { paths } from "../html/paths.ts";
import type { PackageFacts, PackageFormat } from "../pkg/formats/format.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import { mdm } from "../pkg/formats/mdm.ts";
import type { Deployable } from "../pkg/scripts/deployment.ts";
import { packagedScripts, type ScriptKind, scriptKinds } from "../pkg/scripts/render.ts";
import {
  clientFileName,
  driverFileName,
  packageName,
  scriptFileName,
  scriptName,
  withoutDriverName,
} from "../services/download-names.ts";
import { clientFacts, type DeploymentFacts, driverFacts, printerFacts } from "../services/package-facts.ts";
import { askerOf } from "./access/asker.ts";
import { byHand } from "./by-hand.ts";
import { appsOfClient, appsOfPrinter, type Publishable, publishOffer } from "./publish-offer.ts";
import { isLoopback, serviceUrl } from "./service-url.ts";

type Offer = Omit<DeployOffer, "logo">;

/** What differs between a printer, a client and a driver. */
interface Target extends Publishable {
  readonly facts: DeploymentFacts;
  /** Drivers that can come apart. */
  readonly drivers: readonly DriverSummary[];
  readonly kinds: readonly ScriptKind[];
  /** Of its packages, without their endings. */
  readonly packageName: string;
  readonly packagePath: (format: string) => string;
  readonly scriptPath: (kind: string) => string;
  /** Where links to all of that are made. */
  readonly linksPath: string;
  /** Where a token that reaches all of it is made. */
  readonly tokenPath: string | undefined;
}

/**
 * What can be downloaded of a printer, and what is filled in and pasted for it.
 * @param siblings what is deployed of its client
 */
export function printerOffer(
  app: App,
  request: IncomingMessage,
  details: PrinterDetails,
  deployable: Deployable,
  siblings: readonly StatedPrinter[],
): Offer {
  const { id } = details.printer;
  return offerOf(app, request, {
    facts: printerFacts(app.store, details, deployable),
    drivers: uploadedAmong(driversOf(deployable)),
    kinds: scriptKinds,
    packageName: packageName(details),
    scriptName: scriptName(details.printer),
    packagePath: (format) => paths.package(id, format),
    scriptPath: (kind) => paths.script(id, kind),
    readPath: (kind) => paths.readScript(id, kind),
    publishPath: paths.publishPrinter(id),
    makes: appsOfPrinter(id, siblings),
    isOfMany: false,
    linksPath: paths.printerLinks(id),
    tokenPath: paths.tokenFor({ kind: "printer", id }),
  });
}

/** The same of a client. @param rows what goes in */
export function clientOffer(
  app: App,
  request: IncomingMessage,
  client: Client,
  rows: readonly StatedPrinter[],
): Offer {
  const { id } = client;
  return offerOf(app, request, {
    facts: clientFacts(app.store, client, rows),
    drivers: uploadedAmong(rows.flatMap(({ driver, arm64Driver }) => [driver, arm64Driver])),
    kinds: scriptKinds,
    packageName: clientFileName(client),
    scriptName: clientFileName(client),
    packagePath: (format) => paths.clientPackage(id, format),
    scriptPath: (kind) => paths.clientScript(id, kind),
    readPath: (kind) => paths.readClientScript(id, kind),
    publishPath: paths.publishClient(id),
    makes: appsOfClient(rows),
    isOfMany: true,
    linksPath: paths.clientLinks(id),
    tokenPath: paths.tokenFor({ kind: "client", id }),
  });
}

/** The same of a driver by itself. @param models under which it is installed */
export function driverOffer(
  app: App,
  request: IncomingMessage,
  driver: Driver,
  models: readonly string[],
): Offer {
  const { id } = driver;
  return offerOf(app, request, {
    facts: driverFacts(app.store, driver, models),
    drivers: [],
    kinds: packagedScripts,
    packageName: driverFileName(driver),
    scriptName: driverFileName(driver),
    packagePath: (format) => paths.driverPackage(id, format),
    scriptPath: (kind) => paths.driverScript(id, kind),
    readPath: (kind) => paths.readDriverScript(id, kind),
    publishPath: paths.publishDriver(id),
    makes: "one app, which installs the driver under all names that printers use",
    isOfMany: false,
    linksPath: paths.driverLinks(id),
    tokenPath: undefined,
  });
}

function offerOf({ config }: App, request: IncomingMessage, target: Target): Offer {
  // Where people have to sign in, no machine gets anything from an address alone: links are made one by one.
  const service = needsSignIn(config) ? undefined : serviceUrl(request, config);
  const { place } = target.facts;
  const kinds = target.kinds.filter((kind) => kind !== "requirement" || place !== undefined);
  const scripts = kinds.map((kind) => ({
    kind,
    path: target.scriptPath(kind),
    fileName: scriptFileName(kind, target.scriptName),
    readPath: target.readPath(kind),
  }));
  const formats = packageFormats.map((format) => {
    const path = target.packagePath(format.id);
    const fileName = target.packageName + format.extension;
    const install = target.scriptPath("install");
    const urls = service === undefined ? undefined : { package: service + path, install: service + install };
    const detectionFileName = scriptFileName("detect", target.scriptName);
    const requirementFileName = scriptFileName("requirement", target.scriptName);
    const facts = { ...target.facts, fileName, detectionFileName, requirementFileName, urls };
    const { id, target: goesTo, label, fileType, guide } = format;
    return {
      ...{ id, target: goesTo, label, fileType, guide, path, fileName },
      sections: format.fields(facts),
      snippets: format.snippets(facts),
      tools: format.tools(facts),
      apart: apartOf(format, target, facts),
      publish: id === mdm.id ? publishOffer(config, request, target) : undefined,
    };
  });
  const isOwnOnly = service !== undefined && isLoopback(service);
  const links = linksOf(config, request, target);
  return { formats, scripts, byHand: byHand(service, scripts), isOwnOnly, links };
}

function linksOf(
  config: Config,
  request: IncomingMessage,
  { linksPath: path, tokenPath }: Target,
): Offer["links"] {
  const { identity } = askerOf(request);
  if (!needsSignIn(config) || !mayUse(identity, "operator")) return undefined;
  const days = config.linkDays;
  return {
    ...{ path, endPath: paths.endLinks(path), days },
    tokenPath: mayUse(identity, "admin") ? tokenPath : undefined,
  };
}

function apartOf(
  format: PackageFormat,
  { drivers, packageName: name, packagePath }: Target,
  facts: PackageFacts,
) {
  if (drivers.length === 0) return undefined;
  const apps = drivers.map((driver) => ({
    name: driverPackageName(driver),
    path: paths.driverDeploy(driver.id),
  }));
  const isMixed = new Set(drivers.map(({ listed }) => shippedBy(listed).join())).size > 1;
  const fileName = withoutDriverName(name, true) + format.extension;
  return {
    path: paths.apart(packagePath(format.id)),
    fileName,
    drivers: apps,
    sections: format.apartFields(
      apps.map((app) => app.name),
      isMixed,
    ),
    // What is fetched from here could as well be fetched with its drivers.
    snippets: format.snippets({ ...facts, fileName, urls: undefined }),
  };
}
