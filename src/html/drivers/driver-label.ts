import {
  architecturesInWords,
  type DriverSummary,
  type InfSummary,
  isForPrinters,
  shippedBy,
  withVersion,
} from "../../domain/drivers/driver.ts";
import { sortedByTitle } from "../../domain/drivers/driver-version.ts";
import { needsModelChoice } from "../../domain/drivers/models.ts";
import { isWindowsDriver } from "../../domain/drivers/windows-drivers.ts";
import type { OfferedDriver } from "../../domain/printers/listings.ts";
import type { SelectChoice } from "../form.ts";
import { type Html, html } from "../html.ts";
import { infDate } from "../text.ts";

/** A line of plain text that identifies a driver: name, version if the name lacks it, machines. */
export function driverLabel({ name, listed }: DriverSummary): string {
  const machines = listed && machinesOf(listed);
  return [withVersion(name, listed?.driverVer?.version), machines].filter(Boolean).join(" · ");
}

/**
 * Printer drivers to choose from, sorted by name: uploaded ones, those that come with Windows, then blocked ones.
 * @param kept the id of the driver that is chosen now; it is included even if it is not a printer driver
 */
export function driverChoices(drivers: readonly OfferedDriver[], kept = ""): SelectChoice[] {
  const possible = drivers.filter((driver) => isForPrinters(driver) || String(driver.id) === kept);
  const group = (driver: OfferedDriver) =>
    driver.state === "blocked" ? "Blocked" : isWindowsDriver(driver) ? "Included in Windows" : "";
  const windows = possible.filter(isWindowsDriver);
  const sorted = [...sortedByTitle(possible.filter((driver) => !windows.includes(driver))), ...windows];
  const choices = sorted.map((driver) => [String(driver.id), driverLabel(driver), group(driver)] as const);
  return ["", "Included in Windows", "Blocked"].flatMap((wanted) =>
    choices.filter(([, , own]) => own === wanted),
  );
}

/** A link to a driver, with its deployed model and file name below. */
export function driverLine(driver: DriverSummary, path: string): Html {
  const { name, driver_desc: model, file_name } = driver;
  return html`<a href="${path}"><bdi>${name}</bdi></a>
    <span class="soft file facts">${model !== "" && !needsModelChoice(driver) && html`<bdi>${model}</bdi>`} <bdi>${file_name}</bdi></span>`;
}

/** `1.2.3.4 21 Nov 2026` */
export function versionOf(inf: Pick<InfSummary, "driverVer"> | undefined): Html {
  if (!inf?.driverVer) return html`<span class="soft">not given</span>`;
  const { version, date } = inf.driverVer;
  return html`<code><bdi>${version}</bdi></code> <span class="soft">${infDate(date)}</span>`;
}

/** The architectures for which a driver has program files. */
export function machinesOf(inf: Pick<InfSummary, "architectures" | "notShipped"> | undefined): string {
  return architecturesInWords(shippedBy(inf));
}
