import type { Deployed, DownloadCount } from "../../domain/deploy/download.ts";
import type { DriverWithState, PrinterWithState, WithState } from "../../domain/printers/listings.ts";
import { downloadWord } from "../field-labels.ts";
import { type Html, html } from "../html.ts";
import type { Link } from "../layout.ts";
import { helpOnFinding } from "../remedies.ts";
import { stateWord, toneOf } from "../state-badge.ts";
import { counted, day, isolated, time } from "../text.ts";

interface PrinterState {
  readonly row: PrinterWithState;
  readonly last: Deployed | undefined;
  /** The most recent first. */
  readonly downloads: readonly DownloadCount[];
  /** Where the worst finding can be fixed. */
  readonly remedy: Link | undefined;
}

/** A printer's state in one line of words: the worst finding with its remedy, and the last deployment. */
export function printerStateLine({ row, last, downloads, remedy }: PrinterState): Html {
  const deployed = deploymentWords(row, last);
  return stateLine(html`${stateWords(row, deployed, remedy)}
    ${row.findings.length > 0 && last !== undefined && html`<p class="soft">${deployed}</p>`}
    ${downloads.length > 0 && downloadsFold(downloads)}`);
}

/** @param driver its findings are of its archive and INF @param remedy where the worst finding can be fixed, if elsewhere */
export function driverStateLine(driver: DriverWithState, remedy: Link | undefined): Html {
  const used =
    driver.printer_count === 0
      ? html`no printer uses it yet`
      : html`in use by ${counted(driver.printer_count, "printer")}`;
  return html`<div class="state-line">${stateWords(driver, used, remedy)}</div>`;
}

/** @param ready the rest of the line where there are no findings */
function stateWords({ state, findings }: WithState, ready: Html, remedy: Link | undefined): Html {
  const [worst, ...others] = findings;
  const word = html`<strong class="${toneOf(state)}">${stateWord(state)}</strong>`;
  if (worst === undefined) return html`<p>${word}, ${ready}</p>`;
  const style = state === "blocked" && html`class="button primary"`;
  return html`<p>${word}: ${isolated(worst.text)}</p>
    ${remedy && html`<p><a ${style} href="${remedy.path}">${remedy.label}</a></p>`}${helpOnFinding(worst.kind)}
    ${others.length > 0 && html`<ul class="plain">${others.map(({ text }) => html`<li>${isolated(text)}</li>`)}</ul>`}`;
}

/** Page scripts replace the content of this element after a download. */
function stateLine(content: Html): Html {
  return html`<div class="downloaded state-line">${content}</div>`;
}

function deploymentWords({ changed }: PrinterWithState, last: Deployed | undefined): Html {
  if (last === undefined) return html`never deployed`;
  if (changed) return html`<strong class="warn">changed since ${day(last.at)}</strong>: deploy again`;
  return html`last download ${day(last.at)}`;
}

/**
 * The same for several printers that are deployed together.
 * @param rows the printers in the package
 * @param leftOut the number of printers that are not in it
 * @param deployed the last deployment of each printer that has one
 */
export function groupStateLine(
  rows: readonly PrinterWithState[],
  leftOut: number,
  deployed: readonly Deployed[],
): Html {
  const changed = rows.filter((row) => row.changed).length;
  const doubtful = rows.filter(({ state }) => state === "attention").length;
  const missing = rows.length - deployed.length;
  const all = rows.length + leftOut;
  const parts = [
    leftOut > 0 &&
      html`<strong class="bad">${leftOut} of ${counted(all, "printer")} ${leftOut === 1 ? "is" : "are"} left out</strong>`,
    doubtful > 0 &&
      html`<strong class="warn">${counted(doubtful, "printer")} ${doubtful === 1 ? "needs" : "need"} attention</strong>`,
    changed > 0 &&
      html`<strong class="warn">${counted(changed, "printer")} changed since the last download</strong>: deploy again`,
    deployed.length > 0 && missing > 0 && html`${counted(missing, "printer")} never deployed`,
  ].filter((part) => part !== false);
  if (parts.length === 0) {
    const last =
      deployed.length === 0
        ? html`never deployed`
        : html`last download ${day(Math.max(...deployed.map(({ at }) => at)))}`;
    parts.push(html`<strong class="good">Ready</strong>: ${counted(all, "printer")}, ${last}`);
  }
  return stateLine(html`<p>${parts.map((part, i) => html`${i > 0 && "; "}${part}`)}</p>`);
}

function downloadsFold(downloads: readonly DownloadCount[]): Html {
  const rows = downloads.map(
    ({
      what,
      revision,
      who,
      count,
      last_at,
    }) => html`<li>${downloadWord(what)}, revision <code>${revision}</code>:
      ${counted(count, "time")} by a ${who}, last on ${time(last_at)}</li>`,
  );
  return html`<details class="more"><summary>All downloads</summary><ul class="plain">${rows}</ul></details>`;
}
