import type { TestContext } from "node:test";
import { navigation, startApp } from "../app.ts";
import { driverZip, printerInf } from "./driver-zip.ts";

/** A driver with three models, none of them universal. */
export const severalModels = driverZip({ models: ["Papyrus A", "Papyrus B", "Papyrus C"] });

/** Headers of a request by htmx. */
export const htmxHeaders = { "hx-request": "true" };

/** A driver with two INFs: the first with models A and B, the second with B and C. */
export const overlappingInfs = driverZip({
  models: ["Papyrus A", "Papyrus B"],
  extra: [
    { name: "sub/second.inf", bytes: printerInf({ models: ["Papyrus B", "Papyrus C"], version: "9.9.9.9" }) },
    { name: "sub/papyrus.dll", bytes: "its own" },
    { name: "sub/papyrus.cat", bytes: "catalog" },
  ],
});

/** Starts the service with a driver. `save` sends its form, by default as a browser without scripts. */
export async function startWithDriver(t: TestContext, zip?: Buffer) {
  const service = await startApp(t);
  const id = await service.addDriver(zip);
  const save = (fields: Record<string, string>, headers: Record<string, string> = navigation) =>
    service.post(`/drivers/${id}`, { from_form: "1", ...fields }, headers);
  const text = async (path: string) => (await service.fetch(path)).text();
  const record = () => service.app.store.drivers.get(id);
  const stateNow = async () => (await service.app.overview.driver(id)).driver.state;
  return { ...service, id, save, text, record, stateNow };
}
