import { hasRole } from "../domain/access/access.ts";
import type { RecentDeletion } from "../domain/deletion.ts";
import type { ListedFormat } from "../domain/deploy/package-format.ts";
import type { DriverWithState, PrinterWithState } from "../domain/printers/listings.ts";
import { narrowDrivers, narrowPrinters, type WantedState } from "../domain/printers/search.ts";
import { deletedSection } from "./backup/undo.ts";
import { packageOffer } from "./deploy/packages.ts";
import { type Html, html } from "./html.ts";
import { canChange, emptyState, type PageContext, page } from "./layout.ts";
import { narrowedPath } from "./list-filter.ts";
import { paths } from "./paths.ts";
import { modelLabel } from "./printers/printer-table.ts";
import { stateBadge } from "./state-badge.ts";
import { bytes, count, time } from "./text.ts";

interface DashboardData {
  readonly printers: readonly PrinterWithState[];
  /** Uploaded drivers. */
  readonly drivers: readonly DriverWithState[];
  readonly clientCount: number;
  /** Whether the last backup failed. False for users who may not see backups. */
  readonly hasFailedBackup: boolean;
  /** Deletions that can be undone, the newest first. */
  readonly deletions: readonly RecentDeletion[];
  /** Only deletions with smaller ids are listed; undefined: the list begins with the newest. */
  readonly before?: number | undefined;
  readonly formats: readonly ListedFormat[];
}

const recentCount = 5;

export function dashboardPage(context: PageContext, data: DashboardData): Html {
  const isChangeable = canChange(context.visitor);
  const isEmpty = data.printers.length === 0;
  const newest = data.printers.toSorted((a, b) => b.printer.id - a.printer.id);
  const packages = newest.filter(({ driver }) => driver !== undefined).slice(0, recentCount);
  const action =
    isChangeable && html`<a class="button primary" href="${paths.printers}#new-printer">New printer</a>`;
  return page(
    { ...context, title: "Dashboard", section: "Dashboard", action },
    isEmpty && !isChangeable
      ? html`<p>There are no printers yet.</p>`
      : html`${isEmpty && firstSteps(data.clientCount > 0, data.drivers.length > 0)}
    ${needsSection(isChangeable ? data : { ...data, deletions: [] }, isEmpty)}
    ${isChangeable && deletedSection(data.deletions, data.before)}
    <div class="two">
      <section><h2>Recent printers</h2>${recentList(newest.slice(0, recentCount), [])}</section>
      <section><h2>Recent packages</h2>${packages.length > 0 || isChangeable ? recentList(packages, data.formats) : html`<p>None yet.</p>`}</section>
    </div>
    ${isChangeable && nextSteps(context)}`,
  );
}

function nextSteps({ visitor }: PageContext): Html {
  return html`<section><h2 class="visually-hidden">Next steps</h2><ul class="actions">
      <li><a class="button" href="${paths.drivers}">Upload a driver</a></li>
      <li><a class="button" href="${paths.clients}">Add a client</a></li>
      <li><a class="button" href="${paths.packages}">All packages</a></li>
      ${hasRole(visitor.role, "admin") && adminSteps}
    </ul></section>`;
}

const adminSteps = html`<li><a class="button" href="${paths.backups}">Backups</a></li>
  <li><a class="button" href="${paths.audit}">Audit log</a></li>`;

/** A number of records, the text after it (`|s` marks the plural), and the page that lists them. */
type Need = readonly [number: number, text: string, path: string, tone?: "bad" | "warn" | undefined];

function needsOf({ printers, drivers, deletions, hasFailedBackup }: DashboardData): Need[] {
  const need = (list: "printers" | "drivers", state: WantedState, text: string, tone?: Need[3]): Need => {
    const narrowing = { q: "", client: undefined, state };
    const rows =
      list === "printers" ? narrowPrinters(printers, narrowing) : narrowDrivers(drivers, narrowing);
    return [rows.length, text, narrowedPath(paths[list], narrowing), tone];
  };
  const unused = drivers.filter(({ printer_count }) => printer_count === 0);
  const unusedBytes = bytes(unused.reduce((sum, { size }) => sum + size, 0));
  const needs: Need[] = [
    [Number(hasFailedBackup), "backup could not be made", paths.backups, "bad"],
    need("printers", "blocked", "printer|s cannot be deployed", "bad"),
    need("drivers", "blocked", "driver|s cannot be installed", "bad"),
    need("printers", "changed", "printer|s changed since the last download: deploy again", "warn"),
    need("printers", "same-name", "queue|s with the same name as another queue of the client", "warn"),
    need(
      "printers",
      "same-address",
      "printer|s with the same address as another printer of the client",
      "warn",
    ),
    need("drivers", "attention", "driver|s to check", "warn"),
    need("drivers", "newer", "driver|s in use with a newer version in Platen", "warn"),
    need("drivers", "unused", `driver|s without printers, ${unusedBytes}`),
    [deletions.length, "deletion|s can still be undone", paths.deleted],
  ];
  return needs.filter(([number]) => number > 0);
}

/** Lists what needs attention, the worst first. Without printers, it lists only problems. */
function needsSection(data: DashboardData, isEmpty: boolean): Html | undefined {
  const needs = needsOf(data).filter(([, , , tone]) => !isEmpty || tone !== undefined);
  if (needs.length === 0) {
    if (isEmpty) return undefined;
    return html`<p class="calm">Nothing needs attention: every printer can be deployed.</p>`;
  }
  const items = needs.map(
    ([number, text, path, tone]) => html`<li class="${tone ?? "plain"}"><a href="${path}">
      <span class="figure">${count(number)}</span> <span>${text.replace("|s", number === 1 ? "" : "s")}</span></a></li>`,
  );
  return html`<section id="needs"><h2>Needs attention</h2><ul class="needs">${items}</ul></section>`;
}

function firstSteps(hasClient: boolean, hasDriver: boolean): Html {
  const item = (isDone: boolean, label: string, path: string) =>
    html`<li class="${isDone && "done"}">${isDone ? html`<span class="tick">Done:</span> ` : ""}<a href="${path}">${label}</a></li>`;
  return html`<section class="panel steps"><h2>Three steps to the first package</h2><ol>
    ${item(hasClient, "Name a client", paths.clients)}
    ${item(hasDriver, "Upload the vendor’s driver ZIP", paths.drivers)}
    ${item(false, "Describe the printer", paths.printers)}
  </ol></section>`;
}

/** @param formats adds a link to each package in these formats */
function recentList(rows: readonly PrinterWithState[], formats: readonly ListedFormat[]): Html {
  const withPackages = formats.length > 0;
  if (rows.length === 0) {
    return withPackages
      ? emptyState(
          "Printers with a driver appear here.",
          html`<a class="button" href="${paths.drivers}">Upload a driver</a>`,
        )
      : emptyState(
          "The printers you describe appear here.",
          html`<a class="button" href="${paths.printers}">Describe a printer</a>`,
        );
  }
  const items = rows.map(
    (row) => html`<li>
      <a href="${paths.printer(row.printer.id)}"><bdi>${row.printer.name}</bdi></a> ${(!withPackages || row.state === "blocked") && stateBadge(row)}
      <span class="soft"><bdi>${row.client?.name ?? "Without a client"}</bdi> · <bdi>${modelLabel(row.printer, row.driver)}</bdi> ·
        ${time(row.printer.created_at)}</span>
      ${withPackages && html`<span class="row-actions">${packageOffer(row, formats)}</span>`}</li>`,
  );
  return html`<ul class="recent">${items}</ul>`;
}
