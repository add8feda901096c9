import type { TestContext } from "node:test";
import type { TestApp } from "../app.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import { startFilled } from "../filled.ts";

/** A client with four printers: ready, with an unsigned driver, with a driver without models, and without a driver. */
export function startShop(t: TestContext): Promise<TestApp> {
  return startFilled(t, fill);
}

async function fill({ post, addDriver, addPrinter }: TestApp): Promise<void> {
  await post("/clients", { name: "Kunde Müller" });
  const good = await addDriver(driverZip({ provider: "%POS%", models: ["Ricoh IM C3000 PCL 6"] }));
  const unsigned = await addDriver(driverZip({ version: "2.0.0.0", catalog: null }));
  const empty = await addDriver(driverZip({ version: "3.0.0.0", models: [] }));
  for (const [name, driver] of [
    ["Office", good],
    ["Warehouse", unsigned],
    ["Incomplete", empty],
  ] as const) {
    await addPrinter({ name, client_id: "1", driver_id: String(driver), address: `10.0.0.${name.length}` });
  }
  await post("/printers", { name: "Bare", client_id: "1", address: "10.0.0.1" });
}
