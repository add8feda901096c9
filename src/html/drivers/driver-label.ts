import {
  architecturesInWords,
  type DriverSummary,
  driverTitle,
  type InfSummary,
  shippedBy,
} from "../../domain/drivers/driver.ts";
import { sortedByTitle } from "../../domain/drivers/driver-version.ts";
import { needsModelChoice } from "../../domain/drivers/models.ts";
import { isWindowsDriver } from "../../domain/drivers/windows-drivers.ts";
import type { SelectChoice } from "../form.ts";
import { type Html, html } from "../html.ts";
import { infDate, infDay } from "../text.ts";

/** A line of plain text that identifies a driver: title, version, date, machines, file. */
export function driverLabel(driver: DriverSummary): string {
  const title = driverTitle(driver);
  const { driverVer } = driver.listed ?? {};
  const version = driverVer && !title.includes(driverVer.version) ? driverVer.version : "";
  const date = driverVer ? infDay(driverVer.date) : "";
  const file = title === driver.file_name ? "" : driver.file_name;
  const machines = driver.listed === undefined ? "" : machinesOf(driver.listed);
  return [title, version, date, machines, file].filter((text) => text !== "").join(" · ");
}

const windowsOwn = "Windows’ own";

/**
 * Printer drivers to choose from, sorted by title; drivers that come with Windows are last.
 * @param kept the id of the driver that is chosen now; it is included even if it is not a printer driver
 */
export function driverChoices(drivers: readonly DriverSummary[], kept = ""): SelectChoice[] {
  const possible = drivers.filter(({ id, listed }) => listed?.isPrinter || String(id) === kept);
  const choice = (driver: DriverSummary) => [String(driver.id), driverLabel(driver)] as const;
  return [
    ...sortedByTitle(possible.filter((driver) => !isWindowsDriver(driver))).map(choice),
    ...possible.filter(isWindowsDriver).map((driver) => [...choice(driver), windowsOwn] as const),
  ];
}

/** A link to a driver, with its deployed model and file name below. */
export function driverLine(driver: DriverSummary, path: string): Html {
  const title = driverTitle(driver);
  const model =
    driver.driver_desc !== "" && !needsModelChoice(driver) && html`<bdi>${driver.driver_desc}</bdi>`;
  const file = title !== driver.file_name && html`<bdi>${driver.file_name}</bdi>`;
  return html`<a href="${path}"><bdi>${title}</bdi></a>
    <span class="soft file">${model}${model && file && " · "}${file}</span>`;
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
