import type { RecentDeletion } from "../domain/deletion.ts";
import type { ListedFormat } from "../domain/deploy/package-format.ts";
import type { SignedCount } from "../domain/deploy/signature.ts";
import type { FileOwner } from "../domain/printers/icon.ts";
import type { DriverWithState, PrinterWithState } from "../domain/printers/listings.ts";
import { narrowDrivers, narrowPrinters, type WantedState } from "../domain/printers/search.ts";
import { firstOf } from "../domain/text.ts";
import { deletedSection } from "./backup/undo.ts";
import { packageOffer } from "./deploy/packages.ts";
import { type Html, html } from "./html.ts";
import { canChange, type PageContext, page } from "./layout.ts";
import { narrowedPath } from "./list-filter.ts";
import { paths } from "./paths.ts";
import { vendorDriverCount } from "./printers/ipp-twin.ts";
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
  /** The records whose icons or preferences are missing or damaged. */
  readonly toUpload: readonly FileOwner[];
  /** Undefined where nobody signs scripts. */
  readonly signed: SignedCount | undefined;
}

const recentCount = 5;

export function dashboardPage(context: PageContext, data: DashboardData): Html {
  const { printers, drivers, clientCount, deletions, before } = data;
  const isChangeable = canChange(context.visitor);
  const isEmpty = printers.length === 0;
  const action = isChangeable && html`<a class="button primary" href="${paths.printerNew}">New printer</a>`;
  return page(
    { ...context, title: "Dashboard", section: "Dashboard", action: !isEmpty && action },
    html`${isEmpty && (isChangeable ? firstSteps(clientCount > 0, drivers.length > 0) : html`<p>There are no printers yet.</p>`)}
    ${needsSection(isChangeable ? data : { ...data, deletions: [], signed: undefined }, isEmpty)}
    ${vendorDriverCount(printers)}
    ${isChangeable && deletedSection(deletions, before)}
    ${!isEmpty && recentSection(data)}`,
  );
}

/** The newest printers, and the newest that have a driver, each once and with its downloads. */
function recentSection({ printers, formats }: DashboardData): Html {
  const newest = printers.toSorted((a, b) => b.printer.id - a.printer.id);
  const withDriver = newest.filter(({ driver }) => driver !== undefined).slice(0, recentCount);
  const recent = newest.filter((row, i) => i < recentCount || withDriver.includes(row));
  const items = recent.map(
    (row) => html`<li><a href="${paths.printer(row.printer.id)}"><bdi>${row.printer.name}</bdi></a>
      <span class="soft"><bdi>${row.client?.name ?? "No client"}</bdi> · <bdi>${modelLabel(row.printer, row.driver)}</bdi> ·
        ${time(row.printer.created_at)}</span>
      <span class="row-actions">${row.state === "blocked" ? stateBadge(row) : html`<span class="soft">Download</span> ${packageOffer(row, formats)}`}</span></li>`,
  );
  return html`<section><h2>Recent printers and packages</h2><ul class="recent">${items}</ul></section>`;
}

/** A number of records, the text after it (`|s` marks the plural), and the page that lists them. */
type Need = readonly [number: number, text: string, path: string, tone?: "bad" | "warn" | undefined];

/** Further damaged files appear when these are uploaded again. */
const maxFiles = 20;

function needsOf({ printers, drivers, deletions, hasFailedBackup, signed, toUpload }: DashboardData): Need[] {
  const need = (list: "printers" | "drivers", state: WantedState, text: string, tone?: Need[3]): Need => {
    const narrowing = { q: "", client: undefined, state };
    const rows =
      list === "printers" ? narrowPrinters(printers, narrowing) : narrowDrivers(drivers, narrowing);
    return [rows.length, text, narrowedPath(paths[list], narrowing), tone];
  };
  const files = toUpload.slice(0, maxFiles).map(({ kind, id, what }): Need => {
    const path = kind === "client" ? paths.client(id) : paths.printer(id);
    return [1, `file is missing or damaged: upload the ${what} again`, path, "bad"];
  });
  const unsound = signed?.damaged ?? [];
  const toSign = `damaged signature|s: run sign.ps1 again (${firstOf(unsound, 5)})`;
  const unused = drivers.filter(({ printer_count }) => printer_count === 0);
  const unusedBytes = bytes(unused.reduce((sum, { size }) => sum + size, 0));
  const needs: Need[] = [
    [Number(hasFailedBackup), "failed backup", paths.backups, "bad"],
    ...files,
    [unsound.length, toSign, paths.packagesSign, "bad"],
    need("printers", "blocked", "printer|s cannot be deployed", "bad"),
    need("drivers", "blocked", "driver|s cannot be installed", "bad"),
    need("printers", "changed", "printer|s changed since the last download: deploy again", "warn"),
    need("printers", "same-name", "printer|s with a duplicate name", "warn"),
    need("printers", "same-address", "printer|s with a duplicate address", "warn"),
    need("printers", "unchosen-model", "printer|s without a chosen model", "warn"),
    need("printers", "other-preferences", "printer|s with preferences of another driver", "warn"),
    [signed ? signed.total - signed.signed : 0, "script|s without a signature", paths.packagesSign, "warn"],
    need("drivers", "attention", "driver|s needing attention", "warn"),
    need("drivers", "newer", "driver|s with a newer version available", "warn"),
    need("drivers", "unused", `unused driver|s, ${unusedBytes}`),
    [deletions.length, "recent change|s that you can undo", paths.deleted],
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

/** One button for each step; the first that is not done is the primary one. */
function firstSteps(hasClient: boolean, hasDriver: boolean): Html {
  const steps = [
    [hasClient, "New client", paths.clientNew, "Printers are grouped by client."],
    [hasDriver, "Upload driver", paths.uploadForm, "The vendor’s file, as downloaded."],
    [false, "New printer", paths.printerNew, "Enter name, address and driver. Then download the packages."],
  ] as const;
  const next = steps.findIndex(([isDone]) => !isDone);
  const items = steps.map(
    ([isDone, label, path, text], i) =>
      html`<li>${
        isDone
          ? html`<span class="good">Done:</span> <a href="${path}">${label}</a>`
          : html`<a class="button ${i === next && "primary"}" href="${path}">${label}</a> <span class="soft">${text}</span>`
      }</li>`,
  );
  return html`<section class="steps"><h2>First package in three steps</h2><ol>${items}</ol></section>`;
}
