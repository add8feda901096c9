import { type DownloadCount, deployingKinds } from "../domain/download.ts";
import { type Html, html } from "./html.ts";
import { counted, time } from "./text.ts";

/**
 * What was deployed of a printer last, and whether that is what would be deployed now; all that was downloaded folded
 * below it.
 * @param downloads the latest first
 */
export function downloadedLine(downloads: readonly DownloadCount[], revision: string | undefined): Html {
  const last = downloads.find(({ what }) => deployingKinds.includes(what));
  const details = downloads.length > 0 && downloadsFold(downloads);
  if (last === undefined)
    return html`<div class="downloaded"><p class="soft">Not downloaded yet.</p>${details}</div>`;
  const isChanged = revision !== undefined && last.revision !== revision;
  return html`<div class="downloaded"><p class="${isChanged ? "warn" : "soft"}">Downloaded ${time(last.last_at)},
    revision <code>${last.revision}</code>${isChanged ? "; changed since: deploy again" : ""}.</p>${details}</div>`;
}

function downloadsFold(downloads: readonly DownloadCount[]): Html {
  const rows = downloads.map(
    ({ what, revision, who, count, last_at }) => html`<li>${what}, revision <code>${revision}</code>:
      ${counted(count, "time")} by a ${who}, last ${time(last_at)}</li>`,
  );
  return html`<details class="more"><summary>All downloads</summary><ul>${rows}</ul></details>`;
}
