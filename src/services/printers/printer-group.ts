import {
  chooseDeployment,
  type DeploymentChoice,
  type LeftOut,
} from "../../domain/deploy/deployment-choice.ts";
import type { Remedy } from "../../domain/errors.ts";
import { UserError } from "../../domain/errors.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { StatedPrinter } from "../../domain/printers/listings.ts";
import { slug } from "../../domain/text.ts";
import type { Store } from "../../store/store.ts";
import { clientFileName } from "../deploy/download-names.ts";
import type { Overview } from "./overview.ts";

/** Printers that are deployed together. */
export interface PrinterGroup {
  /** Of the log on the machines. */
  readonly title: string;
  /** Of the download, without its ending. */
  readonly fileName: string;
  readonly ids: readonly number[];
}

/** What a client's printers are deployed as, and which of them are. */
export interface ClientGroup extends PrinterGroup, DeploymentChoice {
  readonly client: number;
}

/** @param withFailing take what is known to fail all the same */
export async function clientGroup(
  overview: Overview,
  client: Client,
  withFailing: boolean,
): Promise<ClientGroup> {
  const choice = chooseDeployment(await overview.ofClient(client.id), withFailing);
  return { ...choice, client: client.id, ...groupOf(choice.goesIn, client.name, clientFileName(client)) };
}

/** @throws UserError "invalid" that names the first printers that stay out, where all of them do */
export function requirePrinters(group: ClientGroup): PrinterGroup {
  if (group.goesIn.length > 0) return group;
  const why = group.leftOut.length === 0 ? "there is none yet." : reasonsOf(group.leftOut);
  const remedies: Remedy[] = [...remediesOf(group.leftOut), { kind: "left-out", client: group.client }];
  throw new UserError("invalid", `No printer of “${group.title}” can be deployed: ${why}`, {}, { remedies });
}

/** More printers than this are no choice that anybody made by hand. */
export const chosenLimit = 1000;

/** What somebody asked for: a format of packages, and printers. */
interface Chosen {
  readonly format: string;
  readonly ids: readonly number[];
  /** Take what is known to fail all the same. */
  readonly withFailing: boolean;
  /** Without their drivers. */
  readonly isApart: boolean;
}

/**
 * Printers that somebody chose: all of them go in, or none.
 * @throws UserError "not-found", or "invalid" that names the first that cannot go in
 */
export async function chosenGroup(overview: Overview, chosen: Chosen): Promise<PrinterGroup> {
  const { ids } = chosen;
  if (ids.length === 0) throw new UserError("invalid", "No printer is chosen: choose at least one.");
  if (ids.length > chosenLimit) {
    const message = `These are ${ids.length} printers: one package can have ${chosenLimit}.`;
    throw new UserError("invalid", message);
  }
  const found = await overview.several(ids);
  const rows = ids.map((id) => {
    const row = found.get(id);
    if (row === undefined) throw new UserError("not-found", `There is no printer ${id}.`);
    return row;
  });
  const choice = chooseDeployment(rows, chosen.withFailing);
  if (choice.leftOut.length > 0) throw notAllOf(choice, chosen);
  const { goesIn } = choice;
  const [client, ...others] = new Set(goesIn.map((row) => row.client));
  const name = others.length === 0 ? client?.name : undefined;
  const count = goesIn.length === 1 ? "1-printer" : `${goesIn.length}-printers`;
  const fileName = [slug(name ?? ""), count].filter(Boolean).join("-");
  return groupOf(goesIn, name ?? "printers", fileName);
}

/** With a download of those that do go in. */
function notAllOf(
  { goesIn, leftOut }: DeploymentChoice,
  { format, withFailing, isApart }: Chosen,
): UserError {
  const total = goesIn.length + leftOut.length;
  const some =
    goesIn.length > 0 ? `${leftOut.length} of these ${total} printers cannot` : "None of these printers can";
  const count = total === 1 ? "This printer cannot go into a package" : `${some} go into one package`;
  const ids = goesIn.map(({ printer }) => printer.id);
  const others: Remedy[] = ids.length > 0 ? [{ kind: "package", format, ids, withFailing, isApart }] : [];
  const remedies = [...others, ...remediesOf(leftOut)];
  return new UserError("invalid", `${count}: ${reasonsOf(leftOut)}`, {}, { remedies });
}

function groupOf(rows: readonly StatedPrinter[], title: string, fileName: string): PrinterGroup {
  return { title, fileName, ids: rows.map(({ printer }) => printer.id) };
}

const namedReasons = 3;

function reasonsOf(leftOut: readonly LeftOut[]): string {
  const named = leftOut.slice(0, namedReasons);
  const reasons = named.map(({ row, reason }) => `“${row.printer.name}”: ${reason.text}`);
  const rest = leftOut.length - named.length;
  return reasons.join(" ") + (rest > 0 ? ` And ${rest} more.` : "");
}

/** The same printers that are named. */
function remediesOf(leftOut: readonly LeftOut[]): Remedy[] {
  return leftOut
    .slice(0, namedReasons)
    .map(({ row, reason }) => ({ kind: "printer", finding: reason, row, isNamed: leftOut.length > 1 }));
}

/** Bytes of the settings of all printers in one package: a thousand ordinary ones have a million. */
const settingsLimit = 2_000_000;
/** Bytes of their PrintTickets: three hundred ordinary ones have as many. */
const ticketLimit = 8_000_000;

/** @throws UserError "invalid" where one package cannot hold all that these printers say */
export function checkSettingsLength({ printers }: Store, { title, ids }: PrinterGroup): void {
  const isLong = printers.settingsBytes(ids) > settingsLimit;
  if (!isLong && printers.ticketBytes(ids, ticketLimit) <= ticketLimit) return;
  const remedy = isLong
    ? "shorten what they replace, or download them one by one"
    : "their PrintTickets are large, so download them one by one";
  throw new UserError(
    "invalid",
    `The printers of “${title}” hold more text than one package can: ${remedy}.`,
  );
}
