import { hasRole } from "../domain/access.ts";
import type { Attention } from "../domain/attention.ts";
import type { RecentDeletion } from "../domain/deletion.ts";
import type { StatedPrinter } from "../domain/listings.ts";
import type { ListedFormat } from "../domain/package-format.ts";
import { type Html, html } from "./html.ts";
import { emptyState, type Frame, mayChange, page } from "./layout.ts";
import { packageOffer } from "./packages.ts";
import { paths } from "./paths.ts";
import { modelLabel } from "./printers.ts";
import { stateBadge } from "./standing.ts";
import { bytes, count, time } from "./text.ts";
import { deletedSection } from "./undo.ts";

interface DashboardData {
  readonly attention: Attention;
  /** Whether the last backup could not be made, for whoever may see the backups. */
  readonly hasFailedBackup: boolean;
  /** What can be taken back, the latest first. */
  readonly deletions: readonly RecentDeletion[];
  /** The id of the first deletion that is not shown; undefined: the latest are. */
  readonly before?: number | undefined;
  readonly recentPrinters: readonly StatedPrinter[];
  readonly recentPackages: readonly StatedPrinter[];
  readonly formats: readonly ListedFormat[];
  readonly counts: { readonly clients: number; readonly drivers: number; readonly printers: number };
}

export function dashboardPage(frame: Frame, data: DashboardData): Html {
  const { clients, drivers, printers } = data.counts;
  const isNew = printers === 0;
  if (!mayChange(frame.visitor)) return shownDashboard(frame, data);
  const action = html`<a class="button primary" href="${paths.printers}#new-printer">New printer</a>`;
  return page(
    { ...frame, title: "Dashboard", place: "Dashboard", action },
    html`${isNew && firstSteps(clients > 0, drivers > 0)}
    ${needsSection(data, isNew)}
    ${deletedSection(data.deletions, data.before)}
    <div class="two">
      <section><h2>Recent printers</h2>${recent(data.recentPrinters, [])}</section>
      <section><h2>Recent packages</h2>${recent(data.recentPackages, data.formats)}</section>
    </div>
    <section><h2 class="visually-hidden">Next steps</h2><ul class="actions">
      <li><a class="button" href="${paths.drivers}">Upload a driver</a></li>
      <li><a class="button" href="${paths.clients}">Add a client</a></li>
      <li><a class="button" href="${paths.packages}">All packages</a></li>
      ${hasRole(frame.visitor.role, "admin") && adminSteps}
    </ul></section>`,
  );
}

const adminSteps = html`<li><a class="button" href="${paths.backups}">Backups</a></li>
  <li><a class="button" href="${paths.audit}">Audit log</a></li>`;

/** For who may look alone. */
function shownDashboard(frame: Frame, data: DashboardData): Html {
  const { recentPrinters, recentPackages, formats, counts } = data;
  return page(
    { ...frame, title: "Dashboard", place: "Dashboard" },
    counts.printers === 0
      ? html`<p>There are no printers yet.</p>`
      : html`${needsSection({ ...data, deletions: [] }, false)}
        <div class="two">
          <section><h2>Recent printers</h2>${recent(recentPrinters, [])}</section>
          <section><h2>Recent packages</h2>${recentPackages.length > 0 ? recent(recentPackages, formats) : html`<p>None yet.</p>`}</section>
        </div>`,
  );
}

/** How many, the sentence that the number begins, with `|s` where there are several, and where they are. */
type Need = readonly [number: number, sentence: string, path: string, tone?: "bad" | "warn"];

function needsOf({ attention, deletions, hasFailedBackup }: DashboardData): Need[] {
  const { blockedPrinters, blockedDrivers, changed, sameName, sameAddress } = attention;
  const { oddDrivers, outdated, unused } = attention;
  const needs: Need[] = [
    [Number(hasFailedBackup), "backup could not be made", paths.backups, "bad"],
    [blockedPrinters, "printer|s cannot be deployed", narrowed("printers", "blocked"), "bad"],
    [blockedDrivers, "driver|s cannot be installed", narrowed("drivers", "blocked"), "bad"],
    [
      changed,
      "printer|s changed since the last download: deploy again",
      narrowed("printers", "changed"),
      "warn",
    ],
    [
      sameName,
      "queue|s with the name of another queue of the client",
      narrowed("printers", "same-name"),
      "warn",
    ],
    [
      sameAddress,
      "printer|s with the address of another one of the client",
      narrowed("printers", "same-address"),
      "warn",
    ],
    [oddDrivers, "driver|s to look at", narrowed("drivers", "attention"), "warn"],
    [outdated, "driver|s in use, with a newer version here", narrowed("drivers", "newer"), "warn"],
    [unused.count, `driver|s without printers, ${bytes(unused.bytes)}`, narrowed("drivers", "unused")],
    [deletions.length, "deletion|s can still be undone", paths.deleted],
  ];
  return needs.filter(([number]) => number > 0);
}

function narrowed(list: "printers" | "drivers", state: string): string {
  return `${paths[list]}?state=${state}`;
}

/** What needs somebody, the worst first; a service without printers has its first steps instead. */
function needsSection(data: DashboardData, isNew: boolean): Html | undefined {
  const needs = needsOf(data).filter(([, , , tone]) => !isNew || tone !== undefined);
  if (needs.length === 0) {
    if (isNew) return undefined;
    return html`<p class="calm">Nothing needs you: every printer can be deployed as it is.</p>`;
  }
  const items = needs.map(
    ([number, sentence, path, tone]) => html`<li class="${tone ?? "plain"}"><a href="${path}">
      <span class="figure">${count(number)}</span> <span>${sentence.replace("|s", number === 1 ? "" : "s")}</span></a></li>`,
  );
  return html`<section id="needs"><h2>What needs you</h2><ul class="needs">${items}</ul></section>`;
}

function firstSteps(hasClient: boolean, hasDriver: boolean): Html {
  const step = (isDone: boolean, label: string, path: string) =>
    html`<li class="${isDone && "done"}">${isDone ? html`<span class="tick">Done:</span> ` : ""}<a href="${path}">${label}</a></li>`;
  return html`<section class="panel steps"><h2>Three steps to the first package</h2><ol>
    ${step(hasClient, "Name a client", paths.clients)}
    ${step(hasDriver, "Upload the vendor’s driver ZIP", paths.drivers)}
    ${step(false, "Describe the printer", paths.printers)}
  </ol></section>`;
}

/** @param formats of the packages that are linked; none: only the printers are */
function recent(rows: readonly StatedPrinter[], formats: readonly ListedFormat[]): Html {
  const withPackages = formats.length > 0;
  if (rows.length === 0) {
    return withPackages
      ? emptyState(
          "Printers with a driver appear here, ready to download.",
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
