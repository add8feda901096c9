import { groupBy } from "../../domain/collections.ts";
import {
  chooseDeployment,
  type DeploymentChoice,
  type LeftOut,
} from "../../domain/deploy/deployment-choice.ts";
import { missingRecord, type Remedy, UserError } from "../../domain/errors.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { PrinterWithState } from "../../domain/printers/listings.ts";
import { firstOf, slug } from "../../domain/text.ts";
import type { Store } from "../../store/store.ts";
import { clientFileName } from "../deploy/download-names.ts";
import type { Overview } from "../overview.ts";

/** Printers that are deployed together. */
export interface PrinterGroup {
  /** The title of the log on the machines. */
  readonly title: string;
  /** The name of the download, without its extension. */
  readonly fileName: string;
  readonly ids: readonly number[];
}

/** The printers of a client that are deployed, and those that are left out. */
export interface ClientGroup extends PrinterGroup, DeploymentChoice {
  readonly client: number;
}

/** @param withFailing include printers that are known to fail */
export async function clientGroup(
  overview: Overview,
  client: Client,
  withFailing: boolean,
): Promise<ClientGroup> {
  return groupOfClient(client, await overview.ofClient(client.id), withFailing);
}

/** @param rows all printers of the client */
export function groupOfClient(
  client: Client,
  rows: readonly PrinterWithState[],
  withFailing: boolean,
): ClientGroup {
  const choice = chooseDeployment(rows, withFailing);
  return { ...choice, client: client.id, ...groupOf(choice.included, client.name, clientFileName(client)) };
}

/** @throws UserError "invalid" with the first reasons, if all printers are left out */
export function requirePrinters(group: ClientGroup): PrinterGroup {
  if (group.included.length > 0) return group;
  const { title, leftOut } = group;
  const why =
    leftOut.length === 0
      ? `“${title}” has no printers. Add one first.`
      : `No printer of “${title}” can be deployed: ${reasonsOf(leftOut)}`;
  const remedies: Remedy[] = [...remediesOf(leftOut), { kind: "left-out", client: group.client }];
  throw new UserError("invalid", why, {}, { remedies });
}

/** The maximum number of printers that a user can choose for one package. */
export const maxChosenPrinters = 1000;

interface ChosenPrinters {
  /** The package format. */
  readonly format: string;
  readonly ids: readonly number[];
  /** Include printers that are known to fail. */
  readonly withFailing: boolean;
  /** Without their drivers. */
  readonly omitsDriver: boolean;
}

/**
 * The chosen printers, all of one client or all without one: all of them go into the package, or none.
 * @throws UserError "not-found", or "invalid" for several clients, or with the first printers that cannot go in
 */
export async function chosenGroup(overview: Overview, chosen: ChosenPrinters): Promise<PrinterGroup> {
  const { ids } = chosen;
  if (ids.length === 0) throw new UserError("invalid", "No printer is chosen. Choose at least one.");
  if (ids.length > maxChosenPrinters) {
    const message = `${ids.length} printers are too many for one package. The limit is ${maxChosenPrinters}.`;
    throw new UserError("invalid", message);
  }
  const found = await overview.findMany(ids);
  const rows = ids.map((id) => {
    const row = found.get(id);
    if (row === undefined) throw missingRecord("Printer", id);
    return row;
  });
  // A PC of one client must not get the printers of another.
  if (new Set(rows.map(({ client }) => client?.id)).size > 1) throw severalClients(rows, chosen);
  const choice = chooseDeployment(rows, chosen.withFailing);
  if (choice.leftOut.length > 0) throw cannotAllGoIn(choice, chosen);
  const { included } = choice;
  const name = rows[0]?.client?.name;
  const count = included.length === 1 ? "1-printer" : `${included.length}-printers`;
  const fileName = [slug(name ?? ""), count].filter(Boolean).join("-");
  return groupOf(included, name ?? "printers", fileName);
}

/** The error offers a download for each client. */
function severalClients(rows: readonly PrinterWithState[], chosen: ChosenPrinters): UserError {
  const groups = [...groupBy(rows, ({ client }) => client?.id).values()];
  const names = groups.map(([first]) => (first?.client ? `“${first.client.name}”` : "no client"));
  const remedies = groups.map((group, i): Remedy => {
    return { ...chosen, kind: "package", of: names[i], ids: group.map(({ printer }) => printer.id) };
  });
  const which = firstOf(names, namedClients);
  const message = `A package is for one client, and these printers belong to several: ${which}. Download a package for each.`;
  return new UserError("invalid", message, {}, { remedies });
}

/** The settings of all printers in one package. A thousand ordinary printers have about a million bytes. */
const settingsLimitBytes = 2_000_000;
/** The PrintTickets of all printers in one package. Three hundred ordinary tickets have about as many bytes. */
const ticketsLimitBytes = 8_000_000;

/** @throws UserError "invalid" if the texts of these printers are too large for one package */
export function checkSettingsSize({ printers }: Store, { ids }: PrinterGroup): void {
  const isLong = printers.settingsBytes(ids) > settingsLimitBytes;
  if (!isLong && printers.ticketBytes(ids, ticketsLimitBytes) <= ticketsLimitBytes) return;
  const what = isLong ? "settings" : "PrintTickets";
  const message = `The ${what} of these printers are too large for one package. Download the printers one by one.`;
  throw new UserError("invalid", message);
}

/** The error offers a download of the printers that can go in. */
function cannotAllGoIn(
  { included, leftOut }: DeploymentChoice,
  { format, withFailing, omitsDriver }: ChosenPrinters,
): UserError {
  const total = included.length + leftOut.length;
  const some =
    included.length > 0
      ? `${leftOut.length} of these ${total} printers cannot`
      : "None of these printers can";
  const count = total === 1 ? "This printer cannot go into a package" : `${some} go into one package`;
  const ids = included.map(({ printer }) => printer.id);
  const others: Remedy[] = ids.length > 0 ? [{ kind: "package", format, ids, withFailing, omitsDriver }] : [];
  const remedies = [...others, ...remediesOf(leftOut)];
  return new UserError("invalid", `${count}: ${reasonsOf(leftOut)}`, {}, { remedies });
}

function groupOf(rows: readonly PrinterWithState[], title: string, fileName: string): PrinterGroup {
  return { title, fileName, ids: rows.map(({ printer }) => printer.id) };
}

const namedClients = 10;
const namedReasons = 3;

function reasonsOf(leftOut: readonly LeftOut[]): string {
  const named = leftOut.slice(0, namedReasons);
  const reasons = named.map(({ row, reason }) => `“${row.printer.name}”: ${reason.text}`);
  const rest = leftOut.length - named.length;
  return reasons.join(" ") + (rest > 0 ? ` And ${rest} more.` : "");
}

/** Remedies for the printers that `reasonsOf` names. */
function remediesOf(leftOut: readonly LeftOut[]): Remedy[] {
  return leftOut
    .slice(0, namedReasons)
    .map(({ row, reason }) => ({ kind: "printer", finding: reason, row, isNamed: leftOut.length > 1 }));
}
