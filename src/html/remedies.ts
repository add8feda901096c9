import type { FindingKind } from "../domain/findings.ts";
import type { ListedPrinter } from "../domain/listings.ts";
import { paths } from "./paths.ts";

/** Where a finding is mended. */
export interface Remedy {
  readonly label: string;
  readonly path: string;
}

/** Where it is mended that a printer is not ready. */
export function remedyOf(kind: FindingKind, { printer, driver }: ListedPrinter): Remedy {
  const edit = (label: string, field: string) => ({
    label,
    path: `${paths.printerEdit(printer.id)}#f-${field}`,
  });
  if (driver === undefined) return edit("Choose a driver", "driver_id");
  if (kind === "archive") return { label: "Upload the ZIP again", path: paths.drivers };
  if (kind === "same-name") return edit("Rename it", "name");
  if (kind === "same-address") return edit("Change the address", "address");
  if (kind === "lost-model" && printer.driver_desc !== "") return edit("Choose a model", "driver_desc");
  if (kind === "unchosen-model") return { label: "Choose the model", path: paths.driverModel(driver.id) };
  return { label: "Open the driver", path: paths.driver(driver.id) };
}
