import type { TestApp } from "../app.ts";
import { driverZip } from "../drivers/driver-zip.ts";

/**
 * Adds a client “Müller” with three printers on two drivers, and four that are left out: one without a driver, one with
 * an unsigned driver, one whose driver has no model, and a second “A”.
 */
export async function addTwoDrivers({ post, addDriver, addPrinter }: TestApp): Promise<void> {
  await post("/clients", { name: "Müller" });
  await addDriver(driverZip({ models: ["One A", "One B"] }));
  await addDriver(driverZip({ models: ["Two"], version: "2.0.0.0" }));
  await addDriver(driverZip({ models: ["Three"], version: "3.0.0.0", catalog: null }));
  await addDriver(driverZip({ models: [], version: "4.0.0.0" }));
  const add = (name: string, driver_id: string, more = {}) =>
    addPrinter({ name, client_id: "1", driver_id, ...more });
  await add("A", "1");
  await add("Büro “B”", "1", { driver_desc: "One B" });
  await add("C", "2");
  await post("/printers", { name: "Without driver", client_id: "1", address: "10.0.0.1" });
  await add("Unsigned", "3");
  await add("Incomplete", "4");
  await add("a", "1", { address: "10.0.0.77" });
}
