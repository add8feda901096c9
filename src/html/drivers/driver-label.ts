import {
  architecturesInWords,
  type DriverSummary,
  driverTitle,
  type InfSummary,
  shippedBy,
} from "../../domain/drivers/driver.ts";
import { inOrder } from "../../domain/drivers/driver-version.ts";
import { isUnchosen } from "../../domain/drivers/models.ts";
import { isWindowsOwn } from "../../domain/drivers/windows-drivers.ts";
import type { SelectChoice } from "../form.ts";
import { type Html, html } from "../html.ts";
import { infDate, infDay } from "../text.ts";

/** What tells a driver from all others, in a line of plain text: title, version, date, machines, file. */
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
 * Printers' drivers to choose from, in their order, last those that Windows brings.
 * @param kept one that is chosen already, whatever it is
 */
export function driverChoices(drivers: readonly DriverSummary[], kept = ""): SelectChoice[] {
  const possible = drivers.filter(({ id, listed }) => listed?.isPrinter !== false || String(id) === kept);
  const choice = (driver: DriverSummary) => [String(driver.id), driverLabel(driver)] as const;
  return [
    ...inOrder(possible.filter((driver) => !isWindowsOwn(driver))).map(choice),
    ...possible.filter(isWindowsOwn).map((driver) => [...choice(driver), windowsOwn] as const),
  ];
}

/** A driver as a link, with what tells it from all others below: the model that it deploys, and its file. */
export function driverLine(driver: DriverSummary, path: string): Html {
  const title = driverTitle(driver);
  const model = driver.driver_desc !== "" && !isUnchosen(driver) && html`<bdi>${driver.driver_desc}</bdi>`;
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

/** The machines that a driver has program files for. */
export function machinesOf(inf: Pick<InfSummary, "architectures" | "notShipped"> | undefined): string {
  return architecturesInWords(shippedBy(inf));
}
