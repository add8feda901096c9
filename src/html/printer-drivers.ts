import { arm64Description, shipsArm64 } from "../domain/arm64-driver.ts";
import { chosenInf, type Driver, driverTitle } from "../domain/driver.ts";
import { effectiveDescription, type Printer } from "../domain/printer.ts";
import { isWindowsOwn } from "../domain/windows-drivers.ts";
import { definitions, row } from "./definitions.ts";
import { machinesOf } from "./driver-label.ts";
import { type Html, html } from "./html.ts";
import { paths } from "./paths.ts";
import { bytes, infDate } from "./text.ts";

interface PrinterDrivers {
  readonly printer: Printer;
  readonly driver: Driver | undefined;
  readonly arm64Driver: Driver | undefined;
}

/** Which drivers a printer's machines install. */
export function driverSection({ printer, driver, arm64Driver }: PrinterDrivers, isChangeable: boolean): Html {
  if (driver === undefined) return html`<section><h2>Driver</h2><p>No driver assigned.</p></section>`;
  return html`<section id="printer-drivers"><h2>Driver</h2>${factsOf(driver, effectiveDescription(printer, driver))}
    ${
      arm64Driver === undefined
        ? withoutArm64(printer, driver, isChangeable)
        : html`<h3>On ARM64 machines</h3>${factsOf(arm64Driver, arm64Description(printer, arm64Driver))}`
    }</section>`;
}

function factsOf(driver: Driver, model: string): Html {
  const inf = chosenInf(driver);
  const date =
    inf?.driverVer &&
    html`<code>${inf.driverVer.version}</code> <span class="soft">${infDate(inf.driverVer.date)}</span>`;
  const rows = [
    row("Driver", html`<a href="${paths.driver(driver.id)}"><bdi>${driverTitle(driver)}</bdi></a>`),
    row("Model", html`<bdi>${model || "not chosen yet"}</bdi>`),
    row("Machines", machinesOf(inf)),
  ];
  if (isWindowsOwn(driver)) rows.push(row("Archive", "none: Windows brings it"));
  else
    rows.push(
      row("INF", html`<code>${driver.inf_path || "none"}</code>`),
      row("Version", date ?? "not given"),
      row("Archive", html`<bdi>${driver.file_name}</bdi>, ${bytes(driver.size)}`),
    );
  return definitions(rows);
}

function withoutArm64({ id }: Printer, driver: Driver, isChangeable: boolean): Html | undefined {
  if (shipsArm64(driver) !== false) return undefined;
  const remedy = html`: <a href="${paths.printerEdit(id)}#f-arm64_driver_id">choose another for them</a>`;
  return html`<p class="hint">ARM64 machines cannot have it with this driver${isChangeable && remedy}.</p>`;
}
