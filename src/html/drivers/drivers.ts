import { isForPrinters } from "../../domain/drivers/driver.ts";
import { sortedByTitle } from "../../domain/drivers/driver-version.ts";
import type { ClientName, DriverWithState } from "../../domain/printers/listings.ts";
import { type Narrowing, narrowDrivers } from "../../domain/printers/search.ts";
import { selectOptions } from "../form.ts";
import { type Html, html } from "../html.ts";
import { canChange, creationFold, emptyState, type PageContext, page } from "../layout.ts";
import { narrowingForm, nothingMatches, shownReason } from "../list-filter.ts";
import { paths } from "../paths.ts";
import { driverFindingLines, stateBadge } from "../state-badge.ts";
import { bytes, count, counted, time } from "../text.ts";
import { driverChoices, driverLine, machinesOf, versionOf } from "./driver-label.ts";
import { type UploadResult, uploadForm, uploadNotice } from "./driver-upload.ts";

/** The list of drivers and the result of the last upload. */
export interface DriverList {
  readonly rows: readonly DriverWithState[];
  readonly windowsDrivers: readonly DriverWithState[];
  /** The clients in the list's filter. */
  readonly clients: readonly ClientName[];
  readonly result?: UploadResult;
  /** The client on whose page the ZIP was dropped. */
  readonly chosenClient?: number | undefined;
  readonly narrowing: Narrowing;
  /** By driver id: a model with the words of the search that the driver's row lacks. */
  readonly models?: ReadonlyMap<number, string>;
}

export function driversPage(context: PageContext, list: DriverList, uploadLimitBytes: number): Html {
  const isChangeable = canChange(context.visitor);
  const isOpen = list.rows.length === 0 || list.result !== undefined;
  const action =
    isChangeable && creationFold("new-driver", "Upload driver", isOpen, uploadForm(uploadLimitBytes));
  return page(
    { ...context, title: "Drivers", section: "Drivers", action, uploadDialog: undefined },
    driverList(list),
  );
}

/** The list with the result of the last upload, for the page and for fragments. */
export function driverList(list: DriverList): Html {
  const sentence = "Upload the vendor’s driver ZIP. Platen reads its models.";
  const body = list.rows.length === 0 ? emptyState(sentence) : narrowedDrivers(list);
  return html`<section id="drivers" aria-label="Drivers">${uploadNotice(list.result, list.clients, list.chosenClient)}${list.result && driverSelect(list)}
    <div id="driver-rows">${body}</div>${windowsSection(list)}</section>`;
}

function windowsSection({ windowsDrivers }: DriverList): Html {
  const items = windowsDrivers.map(
    (driver) => html`<li><a href="${paths.driver(driver.id)}">${driver.name}</a>
      <span class="soft">${driver.comment} ${driver.printer_count > 0 && counted(driver.printer_count, "printer")}</span></li>`,
  );
  return html`<div id="windows-drivers"><h2>Included in Windows</h2><ul class="recent">${items}</ul></div>`;
}

function narrowedDrivers(list: DriverList): Html {
  const view = visibleDrivers(list);
  return html`${narrowingForm("drivers", view, list.clients)}
    <div id="driver-list">${driverTable(view, list.models)}</div>`;
}

function visibleDrivers({ rows, narrowing, models }: DriverList) {
  return { rows: narrowDrivers(rows, narrowing, models), narrowing, total: rows.length };
}

function driverTable(
  view: ReturnType<typeof visibleDrivers>,
  models: DriverList["models"] = new Map(),
): Html {
  if (view.rows.length === 0) return nothingMatches("drivers", view);
  const reason = shownReason(view.narrowing);
  const lines = sortedByTitle(view.rows).map(
    (driver) => html`<tr>
      <td><span>${driverLine(driver, paths.driver(driver.id))}${matchedModel(models.get(driver.id))}</span>${reason && driverFindingLines(driver)}</td>
      <td data-label="Version" class="aside"><span>${versionOf(driver.listed)}</span></td>
      <td data-label="Architecture" class="aside">${machinesOf(driver.listed)}</td>
      <td class="state">${stateBadge(reason ? { ...driver, findings: [] } : driver)}</td>
      <td data-label="Printers" class="number">${count(driver.printer_count)}</td>
      <td data-label="Size" class="number aside">${bytes(driver.size)}</td>
      <td data-label="Uploaded" class="aside">${time(driver.uploaded_at)}</td>
    </tr>`,
  );
  return html`<table id="driver-table"><thead><tr><th scope="col">Driver</th><th scope="col">Version</th><th scope="col">Architecture</th>
    <th scope="col">State</th><th scope="col" class="number">Printers</th><th scope="col" class="number">Size</th>
    <th scope="col">Uploaded</th></tr></thead><tbody>${lines}</tbody></table>`;
}

function matchedModel(model: string | undefined): Html | undefined {
  return model === undefined ? undefined : html` <span class="soft file">has <bdi>${model}</bdi></span>`;
}

/** A part of the answer to an upload. Scripts take a printer’s choices of drivers from it. */
function driverSelect({ rows, windowsDrivers, result }: DriverList): Html | undefined {
  if (!rows.some(isForPrinters)) return undefined;
  const chosen = result && "driver" in result ? String(result.driver.id) : "";
  const options = selectOptions(driverChoices([...rows, ...windowsDrivers]), chosen);
  return html`<form class="inline" method="get" action="${paths.printers}">
    <label for="driver-select">Driver for the new printer</label>
    <select id="driver-select" name="driver_id">${options}</select> <button>New printer</button></form>`;
}
