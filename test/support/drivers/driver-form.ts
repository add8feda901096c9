import { navigation, type TestApp } from "../app.ts";
import { driverZip, printerInf } from "./driver-zip.ts";

/** One INF of three models, none of which is for all devices. */
export const severalModels = driverZip({ models: ["Papyrus A", "Papyrus B", "Papyrus C"] });

/** A request of htmx. */
export const script = { "hx-request": "true" };

/** A driver of two INFs: the first with A and B, the second with B and C. */
export function overlappingInfs(): Buffer {
  const extra = [
    { name: "sub/second.inf", bytes: printerInf({ models: ["Papyrus B", "Papyrus C"], version: "9.9.9.9" }) },
    { name: "sub/papyrus.dll", bytes: "its own" },
    { name: "sub/papyrus.cat", bytes: "catalog" },
  ];
  return driverZip({ models: ["Papyrus A", "Papyrus B"], extra });
}

/** The form of a driver's page as a browser without scripts sends it. */
export function saveDriverForm(
  { post }: TestApp,
  id: number,
  fields: Record<string, string>,
  headers = navigation as Record<string, string>,
) {
  return post(`/drivers/${id}`, { from_form: "1", ...fields }, headers);
}
