import type { IncomingMessage } from "node:http";
import type { App } from "../app.ts";
import { driversOf, machinesOf } from "../domain/arm64-driver.ts";
import type { Client } from "../domain/client.ts";
import {
  type Architecture,
  architecturesInWords,
  chosenInf,
  type Driver,
  type DriverSummary,
  vendorOf,
} from "../domain/driver.ts";
import type { PrinterDetails, StatedPrinter } from "../domain/listings.ts";
import { effectiveDescription, isDriverOnly } from "../domain/printer.ts";
import { publisherOf } from "../domain/publisher.ts";
import { effectiveSubnets, type Place, placeOf } from "../domain/subnet.ts";
import type { DeployOffer } from "../html/deploy.ts";
import { paths } from "../html/paths.ts";
import { counted, firstOf } from "../html/text.ts";
import type { PackageFacts } from "../pkg/formats/format.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import type { Deployable } from "../pkg/scripts/deployment.ts";
import { scriptKinds } from "../pkg/scripts/render.ts";
import { labelOfMany, revisionOf } from "../pkg/scripts/revision.ts";
import { clientFileName, packageName, scriptFileName, scriptName } from "../services/download-names.ts";
import { byHand } from "./by-hand.ts";
import { isLoopback, serviceUrl } from "./service-url.ts";

type Offer = Omit<DeployOffer, "logo">;

/** What differs between a printer and a client. */
interface Target {
  readonly facts: Omit<PackageFacts, "fileName" | "detectionFileName" | "requirementFileName" | "urls">;
  /** Of its packages, without their endings. */
  readonly packageName: string;
  /** Of its scripts, without kind and ending. */
  readonly scriptName: string;
  readonly packagePath: (format: string) => string;
  readonly scriptPath: (kind: string) => string;
  readonly readPath: (kind: string) => string;
}

/** What can be downloaded of a printer, and what is filled in and pasted for it. */
export function printerOffer(
  { config }: App,
  request: IncomingMessage,
  details: PrinterDetails,
  deployable: Deployable,
): Offer {
  const { id } = details.printer;
  return offerOf(serviceUrl(request, config), {
    facts: printerFacts(details, deployable),
    packageName: packageName(details),
    scriptName: scriptName(details.printer),
    packagePath: (format) => paths.package(id, format),
    scriptPath: (kind) => paths.script(id, kind),
    readPath: (kind) => paths.readScript(id, kind),
  });
}

/** The same of a client. @param rows what goes in */
export function clientOffer(
  { config, store }: App,
  request: IncomingMessage,
  client: Client,
  rows: readonly StatedPrinter[],
): Offer {
  const { id } = client;
  const { label, place } = remembered(store, client, rows);
  return offerOf(serviceUrl(request, config), {
    facts: clientFacts(client, rows, { label, place, publisher: commonPublisher(store, rows) }),
    packageName: clientFileName(client),
    scriptName: clientFileName(client),
    packagePath: (format) => paths.clientPackage(id, format),
    scriptPath: (kind) => paths.clientScript(id, kind),
    readPath: (kind) => paths.readClientScript(id, kind),
  });
}

/** What is said of several printers by all of their settings. */
interface OfMany {
  readonly count: number;
  /** Names these settings. */
  readonly label: string;
  readonly place: Place | undefined;
}

/** By a row of the client, which is another object as soon as anything has changed. */
const known = new WeakMap<StatedPrinter, OfMany>();

/** It takes reading all of the printers. */
function remembered(store: App["store"], client: Client, rows: readonly StatedPrinter[]): OfMany {
  const [first] = rows;
  const before = first && known.get(first);
  if (before?.count === rows.length) return before;
  const made = ofMany(store, client, rows);
  if (first !== undefined) known.set(first, made);
  return made;
}

function ofMany(store: App["store"], client: Client, rows: readonly StatedPrinter[]): OfMany {
  const byId = new Map(rows.map((row) => [row.printer.id, row]));
  const printers = store.printers.several([...byId.keys()]);
  const label = labelOfMany(
    printers.flatMap((printer) => {
      const { driver, arm64Driver } = byId.get(printer.id) ?? {};
      return driver === undefined ? [] : [{ printer, driver, arm64Driver }];
    }),
  );
  const place = placeOf(printers.map((printer) => effectiveSubnets(printer, client)));
  return { count: rows.length, label, place };
}

function offerOf(service: string | undefined, target: Target): Offer {
  const { place } = target.facts;
  const kinds = scriptKinds.filter((kind) => kind !== "requirement" || place !== undefined);
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
    };
  });
  const isOwnOnly = service !== undefined && isLoopback(service);
  return { formats, scripts, byHand: byHand(service, scripts), isOwnOnly };
}

function printerFacts({ printer, client }: PrinterDetails, deployable: Deployable): Target["facts"] {
  const { driver } = deployable;
  const inf = chosenInf(driver);
  const what = isDriverOnly(printer) ? "Printer driver" : "Printer";
  const revision = revisionOf(deployable);
  const place = printer.location === "" ? "" : `, ${printer.location}`;
  const model = effectiveDescription(printer, driver);
  return {
    name: inBrackets(printer.name, client?.name),
    description: `${what} ${printer.name}${client ? ` of ${client.name}` : ""}${place}`,
    publisher: publisherOf(inf?.provider ?? null, model, inf?.manufacturers),
    version: inf?.driverVer?.version ?? revision,
    notes: `Platen: printer ${printer.id}, revision ${revision}`,
    machines: inWords(machinesOf(deployable)),
    dependencies: `nothing: the ${driversOf(deployable).length > 1 ? "drivers are" : "driver is"} in the package`,
    place: placeOf([effectiveSubnets(printer, client)]),
  };
}

const namedPrinters = 5;

function clientFacts(
  client: Client,
  rows: readonly StatedPrinter[],
  { label, place, publisher }: Pick<OfMany, "label" | "place"> & Pick<PackageFacts, "publisher">,
): Target["facts"] {
  const names = rows.map(({ printer }) => printer.name);
  return {
    name: inBrackets("Printers", client.name),
    description: `Printers of ${client.name}: ${firstOf(names, namedPrinters)}`,
    publisher,
    version: label,
    notes: `Platen: client ${client.id}, ${counted(rows.length, "printer")}, version ${label}`,
    machines: architecturesOfAll(rows),
    dependencies: "nothing: the drivers are in the package",
    place,
  };
}

/** Whose software all drivers are; undefined where they are of several, or one of them says nothing. */
function commonPublisher({ drivers }: App["store"], rows: readonly StatedPrinter[]): string | undefined {
  const makers = new Map<number, readonly string[]>();
  const makersOf = ({ id, listed }: DriverSummary) => {
    // A report is read only where the provider leaves it open.
    const known = makers.get(id) ?? (vendorOf(listed?.provider ?? null) ? [] : makersIn(drivers.find(id)));
    makers.set(id, known);
    return known;
  };
  const publishers = new Set(
    rows.map(({ printer, driver }) => {
      if (driver === undefined) return undefined;
      const model = effectiveDescription(printer, driver);
      return publisherOf(driver.listed?.provider ?? null, model, makersOf(driver));
    }),
  );
  const [publisher] = publishers;
  return publishers.size === 1 ? publisher : undefined;
}

function makersIn(driver: Driver | undefined): readonly string[] {
  return (driver && chosenInf(driver)?.manufacturers) ?? [];
}

/** Two apps of one name are one to Company Portal: the client tells them apart. */
function inBrackets(name: string, client: string | undefined): string {
  return client === undefined ? name : `${name} (${client})`;
}

/** The machines that can have every printer; empty where there are none. */
function architecturesOfAll(rows: readonly StatedPrinter[]): string {
  const lists = rows.map(({ driver, arm64Driver }) => (driver ? machinesOf({ driver, arm64Driver }) : []));
  const [first = [], ...others] = lists;
  const common = first.filter((name) => others.every((list) => list.includes(name)));
  return inWords(common);
}

function inWords(names: readonly Architecture[]): string {
  return names.length === 0 ? "" : architecturesInWords(names);
}
