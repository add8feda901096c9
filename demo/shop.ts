import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../src/app.ts";
import { printerFormValues } from "../src/domain/printers/printer-fields.ts";
import { navigation } from "../test/support/app.ts";
import { until } from "../test/support/until.ts";
import { lawOffice } from "./clients.ts";
import { archives, type DriverKey } from "./drivers.ts";
import { printerIcon } from "./icon.ts";
import { archiveBytes } from "./inf.ts";
import { clients, demoPrinters, laterChanges } from "./printers.ts";

/** A running service whose clock can be set. */
export interface Shop {
  readonly app: Pick<App, "store" | "deployments">;
  readonly url: string;
  readonly dataDir: string;
  /** Sets the clock back by this many days, to some minute of a working day. */
  daysAgo(days: number): void;
}

/** Creates the records in an empty service over HTTP, as an operator does over a year. */
export async function fillShop(shop: Shop): Promise<void> {
  await addDrivers(shop);
  await addClients(shop);
  await addPrinters(shop);
  await chooseModels(shop);
  await addIcons(shop);
  await deploy(shop);
  await changeSome(shop);
  loseArchive(shop, "office");
}

/** Sends a plain form as a browser without scripts does. @throws Error if the service refuses it */
async function post({ url }: Shop, path: string, fields: Record<string, string> | FormData): Promise<void> {
  const body = fields instanceof FormData ? fields : new URLSearchParams(fields);
  const answer = await fetch(url + path, { method: "POST", body, headers: navigation, redirect: "manual" });
  await answer.arrayBuffer();
  if (answer.status !== 303) throw new Error(`POST ${path} was answered ${answer.status}`);
}

function withFile(bytes: Buffer, name: string, type: string): FormData {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(bytes)], { type }), name);
  return form;
}

async function addDrivers(shop: Shop): Promise<void> {
  for (const [i, archive] of Object.values(archives).entries()) {
    shop.daysAgo(390 - i * 36);
    const file = withFile(archiveBytes(archive), archive.fileName, "application/zip");
    await post(shop, "/drivers/upload", file);
  }
}

async function addClients(shop: Shop): Promise<void> {
  for (const [i, { name, notes }] of clients.entries()) {
    shop.daysAgo(380 - i * 41);
    await post(shop, "/clients", { name, notes });
  }
}

async function addPrinters(shop: Shop): Promise<void> {
  const clientIds = new Map(shop.app.store.clients.names().map(({ id, name }) => [name, String(id)]));
  for (const [i, { client, driver, fields }] of demoPrinters().entries()) {
    shop.daysAgo(370 - i * 3);
    const client_id = client === undefined ? "" : (clientIds.get(client) ?? "");
    const driver_id = driver === undefined ? "" : String(driverId(shop, driver));
    await post(shop, "/printers", { ...fields, client_id, driver_id });
  }
}

function driverId({ app }: Shop, key: DriverKey): number {
  const driver = driverOf(app, key);
  return driver.id;
}

function driverOf({ store }: Pick<App, "store">, key: DriverKey) {
  const { fileName } = archives[key];
  const driver = store.drivers.summaries().find(({ file_name }) => file_name === fileName);
  if (driver === undefined) throw new Error(`${fileName} was not uploaded`);
  return driver;
}

/** Chooses the models of drivers with several, except for one driver. */
async function chooseModels(shop: Shop): Promise<void> {
  for (const [key, driver_desc] of [
    ["dealer", "Foliant F-36"],
    ["plotter", "Kalamos HD-36 HPGL/2"],
  ] as const) {
    const { id, inf_path } = driverOf(shop.app, key);
    await post(shop, `/drivers/${id}`, { inf_path, driver_desc });
  }
}

const colours = [
  [31, 78, 121],
  [45, 106, 62],
  [138, 90, 0],
  [112, 48, 110],
] as const;

/** Gives every fourth printer an icon. */
async function addIcons(shop: Shop): Promise<void> {
  const icons = colours.map(printerIcon);
  for (const { printer } of shop.app.store.printers.list()) {
    const icon = icons[(printer.id / 4) % icons.length];
    if (icon !== undefined)
      await post(shop, `/printers/${printer.id}/icon`, withFile(icon, "icon.png", "image/png"));
  }
}

/** Downloads every deployable printer, most as a script and some as a package, 20 a day. */
async function deploy(shop: Shop): Promise<void> {
  const perDay = 20;
  for (const [i, { printer, client }] of shop.app.store.printers.list().entries()) {
    shop.daysAgo(12 - Math.floor(i / perDay));
    const what = client?.name === lawOffice.name ? "packages/mdm" : "scripts/install";
    const answer = await fetch(`${shop.url}/printers/${printer.id}/${what}`);
    await answer.arrayBuffer();
    // The service counts a download after its last byte, so wait for that before the clock changes.
    if (answer.status === 200) await until(() => shop.app.deployments.lastDeployed(printer.id) !== undefined);
    else if (answer.status !== 422)
      throw new Error(`${what} of ${printer.name} was answered ${answer.status}`);
  }
}

/** Changes some printers after their deployment. */
async function changeSome(shop: Shop): Promise<void> {
  shop.daysAgo(3);
  const { printers } = shop.app.store;
  for (const { printer } of printers.list()) {
    const change = laterChanges[printer.name];
    if (change === undefined) continue;
    const values = printerFormValues(printers.get(printer.id).printer);
    const fields = Object.entries({ ...values, ...change }).map(([name, value]) => [name, value ?? ""]);
    await post(shop, `/printers/${printer.id}`, Object.fromEntries(fields));
  }
}

/** Removes a driver's archive, as after a restore of the disk from a backup without the file. */
function loseArchive({ app, dataDir }: Shop, key: DriverKey): void {
  const { sha256 } = driverOf(app, key);
  const lost = readdirSync(join(dataDir, "drivers")).filter((name) => name.startsWith(sha256));
  for (const name of lost) rmSync(join(dataDir, "drivers", name));
}
