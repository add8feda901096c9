import type { Deployed, DownloadCount } from "../../domain/deploy/download.ts";
import type { PrinterWithState } from "../../domain/printers/listings.ts";
import { type Html, html } from "../html.ts";
import { counted, time } from "../text.ts";

/**
 * Shows a printer's last deployment and whether its revision has changed since. All downloads are folded.
 * @param downloads the most recent first
 * @param revision the current one; undefined if the printer cannot be deployed
 */
export function downloadedLine(
  last: Deployed | undefined,
  downloads: readonly DownloadCount[],
  revision: string | undefined,
): Html {
  const details = downloads.length > 0 && downloadsFold(downloads);
  if (last === undefined)
    return html`<div class="downloaded"><p class="soft">Not downloaded yet.</p>${details}</div>`;
  const isChanged = revision !== undefined && last.revision !== revision;
  return html`<div class="downloaded"><p class="${isChanged ? "warn" : "soft"}">Downloaded ${time(last.at)},
    revision <code>${last.revision}</code>${isChanged ? "; changed since: deploy again" : ""}.</p>${details}</div>`;
}

/** Shows when printers were last deployed. @param deployed the last deployment of each printer that has one */
export function downloadedTogether(
  rows: readonly PrinterWithState[],
  deployed: readonly Deployed[],
): Html | undefined {
  if (rows.length === 0) return undefined;
  const changed = rows.filter((row) => row.changed).length;
  const missing = rows.length - deployed.length;
  if (deployed.length === 0)
    return html`<div class="downloaded"><p class="soft">Not downloaded yet.</p></div>`;
  const notices = [
    changed > 0 && `${counted(changed, "printer")} changed since`,
    missing > 0 && `${counted(missing, "printer")} not downloaded yet`,
  ].filter((text) => text !== false);
  const last = Math.max(...deployed.map(({ at }) => at));
  return html`<div class="downloaded"><p class="${notices.length > 0 ? "warn" : "soft"}">Downloaded ${time(last)}${
    notices.length > 0 && `; ${notices.join(", ")}: deploy again`
  }.</p></div>`;
}

function downloadsFold(downloads: readonly DownloadCount[]): Html {
  const rows = downloads.map(
    ({ what, revision, who, count, last_at }) => html`<li>${what}, revision <code>${revision}</code>:
      ${counted(count, "time")} by a ${who}, last ${time(last_at)}</li>`,
  );
  return html`<details class="more"><summary>All downloads</summary><ul>${rows}</ul></details>`;
}
