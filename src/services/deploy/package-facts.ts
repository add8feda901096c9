import { memoize } from "../../domain/collections.ts";
import {
  type Architecture,
  chosenInf,
  type Driver,
  type DriverSummary,
  driverPackageName,
  shippedBy,
  vendorOf,
} from "../../domain/drivers/driver.ts";
import { publisherOf } from "../../domain/drivers/driver-maker.ts";
import { uploadedDrivers } from "../../domain/drivers/windows-drivers.ts";
import { appNameFrom, type Client } from "../../domain/printers/client.ts";
import type { PrinterDetails, PrinterWithState } from "../../domain/printers/listings.ts";
import { effectiveDescription, isDriverOnly, type Printer } from "../../domain/printers/printer.ts";
import { architecturesOf, driversOf } from "../../domain/printers/printer-drivers.ts";
import { keyFor } from "../../domain/secrets.ts";
import { combineRequirements, combineSubnets, effectiveSubnets } from "../../domain/subnet.ts";
import { firstOf } from "../../domain/text.ts";
import type { PackageFacts } from "../../pkg/formats/format.ts";
import { appNotes } from "../../pkg/formats/graph-app.ts";
import type { Deployable } from "../../pkg/scripts/deployment.ts";
import { printersDigest, revisionOf, revisionOfDriver } from "../../pkg/scripts/revision.ts";
import type { Store } from "../../store/store.ts";

/** The facts of a deployment that do not depend on its downloads. */
export type DeploymentFacts = Omit<
  PackageFacts,
  "fileName" | "detectionFileName" | "requirementFileName" | "urls" | "installSha256" | "signsScripts"
>;

/** Identifies this installation of Platen in the markers of its apps: 12 hex digits. */
export function instanceOf({ secret }: Pick<Store, "secret">): string {
  return instances(secret);
}

const instances = memoize((secret: Uint8Array) =>
  Buffer.from(keyFor("publish", secret)).toString("hex", 0, 6),
);

export function printerFacts(
  store: Pick<Store, "secret">,
  { printer, client }: PrinterDetails,
  deployable: Deployable,
): DeploymentFacts {
  const { driver } = deployable;
  const inf = chosenInf(driver);
  const revision = revisionOf(deployable);
  const location = printer.location === "" ? "" : `, ${printer.location}`;
  const model = effectiveDescription(printer, driver);
  return {
    name: client?.app_name
      ? appNameFrom(client.app_name, printer.name, client.name)
      : withClientName(printer.name, client?.name),
    ...ownerFacts(client),
    description: `${describedName(printer)}${client ? ` of ${client.name}` : ""}${location}`,
    publisher: publisherOf(inf?.provider ?? null, model, inf?.manufacturers),
    version: inf?.driverVer?.version ?? revision,
    notes: appNotes(instanceOf(store), { kind: "printer", id: printer.id }, revision),
    machines: architecturesOf(deployable),
    dependencies: dependenciesOf(driversOf(deployable)),
    minimumWindows: minimumOf([printer]),
    ...placesOf([printer], client),
  };
}

/** `Printer Office`, but `Printer 016` for a printer whose name says it already. */
function describedName(printer: Printer): string {
  if (isDriverOnly(printer)) return `Printer driver ${printer.name}`;
  return /^printer\b/i.test(printer.name) ? printer.name : `Printer ${printer.name}`;
}

/** @param models the names under which the driver is installed */
export function driverFacts(
  store: Pick<Store, "secret">,
  driver: Driver,
  models: readonly string[],
): DeploymentFacts {
  const inf = chosenInf(driver);
  const name = driverPackageName(driver);
  const revision = revisionOfDriver(driver);
  return {
    name,
    description: `${name}: ${firstOf(models, namedModels)}`,
    publisher: publisherOf(inf?.provider ?? null, models[0] ?? "", inf?.manufacturers),
    version: inf?.driverVer?.version ?? revision,
    notes: appNotes(instanceOf(store), { kind: "driver", id: driver.id }, revision),
    machines: shippedBy(inf),
    dependencies: dependenciesOf([driver]),
    minimumWindows: minimumOf([]),
    ...ownerFacts(undefined),
    subnets: undefined,
    requirement: undefined,
  };
}

/** What a client sets for all of its apps. Drivers have none, because clients share them. */
function ownerFacts(client: Pick<Client, "app_owner" | "app_notes"> | undefined) {
  return { owner: client?.app_owner ?? "", notesText: client?.app_notes ?? "" };
}

const namedModels = 5;
const namedPrinters = 5;

/** @param rows the printers in the client's package */
export function clientFacts(
  store: Store,
  client: Client,
  rows: readonly PrinterWithState[],
): DeploymentFacts {
  const { label, places } = labelAndPlaces(store, client, rows);
  const names = rows.map(({ printer }) => printer.name);
  return {
    name: withClientName("Printers", client.name),
    ...ownerFacts(client),
    description: `Printers of ${client.name}: ${firstOf(names, namedPrinters)}`,
    publisher: commonPublisher(store, rows),
    version: label,
    notes: appNotes(instanceOf(store), { kind: "client", id: client.id }, label),
    machines: architecturesOfAll(rows),
    dependencies: dependenciesOf(rows.flatMap(({ driver, arm64Driver }) => [driver, arm64Driver])),
    minimumWindows: minimumOf(rows.map(({ printer }) => printer)),
    ...places,
  };
}

function dependenciesOf(drivers: readonly (DriverSummary | undefined)[]): string {
  const count = new Set(drivers.flatMap((driver) => driver?.id ?? [])).size;
  const included = uploadedDrivers(drivers).length;
  if (included === 0) return `nothing: the ${count > 1 ? "drivers come" : "driver comes"} with Windows`;
  if (included < count) return "nothing: the drivers are in the package or come with Windows";
  return `nothing: the ${count > 1 ? "drivers are" : "driver is"} in the package`;
}

/** Windows 11 21H2 is the first with a command that adds IPP queues, Windows 10 1607 the first with `pnputil /add-driver`. */
function minimumOf(printers: readonly Pick<Printer, "protocol">[]): PackageFacts["minimumWindows"] {
  return printers.some(({ protocol }) => protocol === "ipp") ? "Windows 11 21H2" : "Windows 10 1607";
}

/** The subnets and requirements of printers of one client. */
function placesOf(printers: readonly Printer[], client: Pick<Client, "subnets"> | undefined) {
  const places = printers.map((printer) => ({
    subnets: effectiveSubnets(printer, client),
    requires_reachable: printer.requires_reachable,
  }));
  const subnets = combineSubnets(places.map((place) => place.subnets));
  return { subnets, requirement: combineRequirements(places) };
}

/** The version label and the places of several printers, from settings that `rows` do not contain. */
function labelAndPlaces(store: Store, client: Client, rows: readonly PrinterWithState[]) {
  const byId = new Map(rows.map((row) => [row.printer.id, row]));
  const printers = store.printers.findMany([...byId.keys()]);
  const label = printersDigest(
    printers.flatMap((printer) => {
      const { driver, arm64Driver } = byId.get(printer.id) ?? {};
      return driver === undefined ? [] : [{ printer, driver, arm64Driver }];
    }),
  );
  return { label, places: placesOf(printers, client) };
}

/** The publisher of all drivers. Undefined if they have different ones, or one is unknown. */
function commonPublisher({ drivers }: Store, rows: readonly PrinterWithState[]): string | undefined {
  const makers = new Map<number, readonly string[]>();
  const makersOf = ({ id, listed }: DriverSummary) => {
    // The large report is read only if the provider does not name the publisher.
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

/** Company Portal treats apps with the same name as one, so the name includes the client. */
function withClientName(name: string, client: string | undefined): string {
  return client === undefined ? name : `${name} (${client})`;
}

/** The architectures on which every printer can be installed. */
function architecturesOfAll(rows: readonly PrinterWithState[]): readonly Architecture[] {
  const all = rows.map(({ driver, arm64Driver }) => (driver ? architecturesOf({ driver, arm64Driver }) : []));
  const [first = [], ...others] = all;
  return first.filter((name) => others.every((list) => list.includes(name)));
}
