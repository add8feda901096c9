import type { FindingKind } from "../domain/findings.ts";
import type { ListedPrinter } from "../domain/listings.ts";
import type { Link } from "./layout.ts";
import { paths } from "./paths.ts";

/** Where a finding of a driver is mended; undefined where that is on the driver's own page. */
export function driverRemedy(kind: FindingKind, driver: number): Link | undefined {
  if (kind === "unchosen-model") return { label: "Choose the model", path: paths.driverModel(driver) };
  if (kind === "lost-model") return { label: "Choose another model", path: paths.driverModel(driver) };
  if (kind === "archive") return { label: "Upload the ZIP again", path: `${paths.drivers}#upload-form` };
  return undefined;
}

/** Where it is mended that a printer is not ready. */
export function remedyOf(kind: FindingKind, { printer, driver }: ListedPrinter): Link {
  const edit = (label: string, field: string) => ({
    label,
    path: `${paths.printerEdit(printer.id)}#f-${field}`,
  });
  if (driver === undefined) return edit("Choose a driver", "driver_id");
  if (kind === "same-name") return edit("Rename it", "name");
  if (kind === "same-address") return edit("Change the address", "address");
  if (kind === "lost-model" && printer.driver_desc !== "") return edit("Choose another model", "driver_desc");
  return driverRemedy(kind, driver.id) ?? { label: "Open the driver", path: paths.driver(driver.id) };
}
