import type { TestContext } from "node:test";
import type { TestApp } from "../app.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import { startFilled } from "../filled.ts";

type Fields = Record<string, string>;

/**
 * Four printers of one client with driver 1. The second and third have models of their own. Driver 2 has the model of
 * the second only.
 * @param isChosen whether a user chose driver 2's own model, “New”
 */
export async function fourPrinters({ post, addDriver }: TestApp, isChosen = true): Promise<void> {
  await post("/clients", { name: "Alpha" });
  await post("/clients", { name: "Kunde Müller" });
  await addDriver(driverZip({ models: ["Both", "Only old"] }));
  await addDriver(driverZip({ models: ["New", "Both"], version: "2.0.0.0" }));
  if (isChosen) await post("/drivers/2", { driver_desc_typed: "New" });
  for (const [name, driver_desc] of [["A"], ["B", "Both"], ["C", "Only old"], ["D"]]) {
    await post("/printers", {
      name: name ?? "",
      driver_desc: driver_desc ?? "",
      client_id: "1",
      driver_id: "1",
      address: "10.0.0.1",
      replaces: 'Old "driver_desc":""',
    });
  }
}

/** The fields that bulk changes change, of all printers. */
export function bulkFieldsOf({ app }: TestApp) {
  return app.store.printers.list().map(({ printer, client, driver }) => ({
    id: printer.id,
    client: client?.id,
    driver: driver?.id,
    model: printer.driver_desc,
  }));
}

/** A service with these four printers. */
export const startFour = (t: TestContext) => startFilled(t, fourPrinters);

/** A service with these four printers, and driver 3, which is unsigned. */
export const startWithUnsigned = (t: TestContext) => startFilled(t, addUnsigned);

async function addUnsigned(service: TestApp): Promise<void> {
  await fourPrinters(service);
  await service.addDriver(driverZip({ models: ["Both", "Only old"], version: "3.0.0.0", catalog: null }));
}

/** Sends a bulk change that needs no preview. */
export function sendBulk({ post }: Pick<TestApp, "post">, fields: Fields, headers: Fields = {}) {
  return post("/printers/bulk", { confirmed: "1", ...fields }, headers);
}
