import type { TestApp } from "../app.ts";
import { driverZip } from "../drivers/driver-zip.ts";

/** Adds a client with two queues on one driver, one on another, and two printers that are left out. */
export async function addTwoDrivers({ post, addDriver, addPrinter }: TestApp): Promise<void> {
  await post("/clients", { name: "Kunde Müller" });
  await addDriver(driverZip({ models: ["One A", "One B"] }));
  await addDriver(driverZip({ models: ["Two"], version: "2.0.0.0" }));
  await addDriver(driverZip({ models: ["Three"], version: "3.0.0.0", catalog: null }));
  for (const [i, [name = "", driver_id = "", driver_desc = ""]] of [
    ["A", "1", "One A"],
    ["Büro “B”", "1", "One B"],
    ["C", "2"],
    ["Unsigned", "3"],
  ].entries())
    await addPrinter({ name, driver_id, driver_desc, client_id: "1", address: `10.0.0.${9 + i}` });
  await post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.13" });
}
