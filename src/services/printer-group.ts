import type { Client } from "../domain/client.ts";
import { chooseDeployment, type DeploymentChoice, type LeftOut } from "../domain/deployment-choice.ts";
import { UserError } from "../domain/errors.ts";
import type { StatedPrinter } from "../domain/listings.ts";
import { slug } from "../domain/slug.ts";
import type { Store } from "../store/store.ts";
import { clientFileName } from "./download-names.ts";
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
interface ClientGroup extends PrinterGroup, DeploymentChoice {}

/** @param withFailing take what is known to fail all the same */
export async function clientGroup(
  overview: Overview,
  client: Client,
  withFailing: boolean,
): Promise<ClientGroup> {
  const { printers } = await overview.read();
  const rows = printers.filter((row) => row.client?.id === client.id);
  const choice = chooseDeployment(rows, withFailing);
  return { ...choice, ...groupOf(choice.goesIn, client.name, clientFileName(client)) };
}

/** @throws UserError "invalid" that names the first printers that stay out, where all of them do */
export function requirePrinters(group: ClientGroup): PrinterGroup {
  if (group.goesIn.length > 0) return group;
  const why = group.leftOut.length === 0 ? "there is none yet." : reasonsOf(group.leftOut);
  throw new UserError("invalid", `No printer of “${group.title}” can be deployed: ${why}`);
}

/** More printers than this are no choice that anybody made by hand. */
const chosenLimit = 1000;

/**
 * Printers that somebody chose: all of them go in, or none.
 * @param withFailing take what is known to fail all the same
 * @throws UserError "not-found", or "invalid" that names the first that cannot go in
 */
export async function chosenGroup(
  overview: Overview,
  ids: readonly number[],
  withFailing: boolean,
): Promise<PrinterGroup> {
  if (ids.length === 0) throw new UserError("invalid", "No printer is chosen: choose at least one.");
  if (ids.length > chosenLimit) {
    const message = `These are ${ids.length} printers: one package can have ${chosenLimit}.`;
    throw new UserError("invalid", message);
  }
  const { printersById } = await overview.read();
  const rows = ids.map((id) => {
    const row = printersById.get(id);
    if (row === undefined) throw new UserError("not-found", `There is no printer ${id}.`);
    return row;
  });
  const { goesIn, leftOut } = chooseDeployment(rows, withFailing);
  if (leftOut.length > 0) {
    const count = `${leftOut.length} of these ${rows.length} printers cannot go into one package`;
    throw new UserError("invalid", `${count}: ${reasonsOf(leftOut)} Leave them out of the choice.`);
  }
  const [client, ...others] = new Set(goesIn.map((row) => row.client));
  const name = others.length === 0 ? client?.name : undefined;
  const count = goesIn.length === 1 ? "1-printer" : `${goesIn.length}-printers`;
  const fileName = [slug(name ?? ""), count].filter(Boolean).join("-");
  return groupOf(goesIn, name ?? "printers", fileName);
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

/** Bytes of the settings of all printers in one package: a thousand ordinary ones have a million. */
const settingsLimit = 2_000_000;

/** @throws UserError "invalid" where one package cannot hold all that these printers say */
export function checkSettingsLength(store: Store, { title, ids }: PrinterGroup): void {
  if (store.printers.settingsBytes(ids) <= settingsLimit) return;
  throw new UserError(
    "invalid",
    `The printers of “${title}” hold more text than one package can: shorten what they replace, or download them one by one.`,
  );
}
