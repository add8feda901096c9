import { navigation, type TestApp } from "../app.ts";
import { driverZip, printerInf } from "./driver-zip.ts";

/** A driver with three models, none of them universal. */
export const severalModels = driverZip({ models: ["Papyrus A", "Papyrus B", "Papyrus C"] });

/** Headers of a request by htmx. */
export const htmxHeaders = { "hx-request": "true" };

/** A driver with two INFs: the first with models A and B, the second with B and C. */
export function overlappingInfs(): Buffer {
  const extra = [
    { name: "sub/second.inf", bytes: printerInf({ models: ["Papyrus B", "Papyrus C"], version: "9.9.9.9" }) },
    { name: "sub/papyrus.dll", bytes: "its own" },
    { name: "sub/papyrus.cat", bytes: "catalog" },
  ];
  return driverZip({ models: ["Papyrus A", "Papyrus B"], extra });
}

/** Sends the form of a driver's page, by default as a browser without scripts. */
export function saveDriverForm(
  { post }: TestApp,
  id: number,
  fields: Record<string, string>,
  headers = navigation as Record<string, string>,
) {
  return post(`/drivers/${id}`, { from_form: "1", ...fields }, headers);
}
