import { driverTitle } from "../../domain/drivers/driver.ts";
import type { HelpHit } from "../../domain/help-search.ts";
import type { DriverWithState, ListedClient, PrinterWithState } from "../../domain/printers/listings.ts";
import { maxQuery, type Narrowing } from "../../domain/printers/search.ts";
import { helpItem } from "../help.ts";
import { type Html, html } from "../html.ts";
import { type PageContext, page } from "../layout.ts";
import { narrowedPath } from "../list-filter.ts";
import { paths } from "../paths.ts";
import { stateBadge } from "../state-badge.ts";
import { counted } from "../text.ts";
import { modelLabel } from "./printer-table.ts";

/** All results of a search. */
export interface SearchResults {
  /** The words as typed; empty if nothing was searched. */
  readonly q: string;
  readonly printers: readonly PrinterWithState[];
  readonly clients: readonly ListedClient[];
  readonly drivers: readonly DriverWithState[];
  /** The model that matches, by driver id. */
  readonly models: ReadonlyMap<number, string>;
  readonly help: readonly HelpHit[];
}

/** The page shows these results of each kind, and links to the others. */
const maxPerKind = 20;
const maxHelp = 3;

export function searchPage(context: PageContext, results: SearchResults): Html {
  return page(
    { ...context, title: "Search" },
    html`<form class="search-again" method="get" action="${paths.search}" role="search" aria-label="Search again">
      <label for="search-q">Name, address, model, client, location, driver or file name</label>
      <p class="actions"><input id="search-q" type="search" name="q" value="${results.q}" maxlength="${maxQuery}">
        <button class="primary">Search</button></p></form>
    ${results.q !== "" && searchResults(results)}`,
  );
}

export function searchResults(results: SearchResults): Html {
  const { q, printers, clients, drivers, models, help } = results;
  const counts = [
    counted(clients.length, "client"),
    counted(drivers.length, "driver"),
    counted(printers.length, "printer"),
  ];
  const total = printers.length + clients.length + drivers.length;
  return html`<div class="results"><p class="soft summary">${total === 0 ? html`No client, driver or printer matches “<bdi>${q}</bdi>”.` : counts.join(", ")}</p>
    ${group("Clients", paths.clients, q, clients, clientItem)}
    ${group("Drivers", paths.drivers, q, drivers, (driver) => driverItem(driver, models.get(driver.id)))}
    ${group("Printers", paths.printers, q, printers, printerItem)}
    ${
      help.length > 0 &&
      html`<section><h2>Help</h2><ul>${help.slice(0, maxHelp).map(helpItem)}</ul>
      <p><a href="${paths.help()}?q=${encodeURIComponent(q)}">Search the help</a></p></section>`
    }</div>`;
}

function group<T>(
  title: string,
  path: string,
  q: string,
  rows: readonly T[],
  item: (row: T) => Html,
): Html | undefined {
  if (rows.length === 0) return undefined;
  const narrowing: Narrowing = { q, client: undefined, state: undefined };
  const all = html`<p><a href="${narrowedPath(path, narrowing)}">All ${counted(rows.length, title.slice(0, -1).toLowerCase())}</a></p>`;
  return html`<section><h2>${title}</h2><ul>${rows.slice(0, maxPerKind).map(item)}</ul>${rows.length > maxPerKind && all}</section>`;
}

function printerItem(row: PrinterWithState): Html {
  const { printer, client, driver } = row;
  const address = printer.address || printer.port_name;
  return html`<li><a href="${paths.printer(printer.id)}"><bdi>${printer.name}</bdi></a> ${row.state !== "ready" && stateBadge(row)}
    <span class="soft facts">${address !== "" && html`<code>${address}</code>`}<bdi>${client?.name ?? "No client"}</bdi>
      <bdi>${modelLabel(printer, driver)}</bdi></span></li>`;
}

function clientItem({ id, name, printer_count }: ListedClient): Html {
  return html`<li><a href="${paths.client(id)}"><bdi>${name}</bdi></a>
    <span class="soft facts">${counted(printer_count, "printer")}</span></li>`;
}

/** @param model the model that matches */
function driverItem(driver: DriverWithState, model = driver.driver_desc): Html {
  return html`<li><a href="${paths.driver(driver.id)}"><bdi>${driverTitle(driver)}</bdi></a> ${driver.state !== "ready" && stateBadge(driver)}
    <span class="soft facts"><bdi>${model}</bdi>${driver.file_name !== "" && html` <bdi>${driver.file_name}</bdi>`}</span></li>`;
}
