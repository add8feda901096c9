import type { ArchiveReport, Driver, InfSummary, UnusedFiles } from "../../domain/drivers/driver.ts";
import { type Html, html } from "../html.ts";
import { bytes, count, counted, firstOf } from "../text.ts";

const maxNames = 8;

/** The hint at the checkbox that leaves files out of packages: how much it saves. */
export function unusedHint(inf: Pick<InfSummary, "unused"> | undefined): string {
  if (inf === undefined) return "Packages then hold what the chosen INF uses, and no more.";
  const { unused } = inf;
  if (unused.count === 0) return "This INF uses every file: packages stay as they are.";
  return `Packages become ${bytes(unused.bytes)} smaller, counted unpacked: ${counted(unused.count, "file")} that neither this INF uses nor those that it brings along. Printers keep their revision: nothing installs again. An install script that was saved by itself before refuses the other files: download it again.`;
}

/** The hint as an out-of-band swap, after another INF was chosen. */
export function unusedHintUpdate(inf: Pick<InfSummary, "unused"> | undefined): Html {
  return html`<p class="hint" id="f-drop_unused-hint" hx-swap-oob="true">${unusedHint(inf)}</p>`;
}

/** Files that nothing in the archive uses, or that packages leave out. */
export function unusedRemark(inf: InfSummary, { report, drop_unused }: Driver): Html {
  const unused = drop_unused ? inf.unused : (report.unused ?? inf.unused);
  const total = count(report.fileCount);
  if (unused.count === 0) {
    const files = report.fileCount === 1 ? "the only file belongs" : `all ${total} files belong`;
    return html`No unused files: ${files} to the driver.`;
  }
  const summary = drop_unused ? leftOutText : isPerInf(report) ? unusedByThisText : unusedByAllText;
  const names = firstOf(unused.paths, maxNames, unused.count);
  return html`<details><summary>${summary(unused, total)}</summary><p><code><bdi>${names}</bdi></code></p></details>`;
}

function leftOutText({ count: files, bytes: size }: UnusedFiles, total: string): string {
  return `Packages leave out ${counted(files, "file")} of ${total}, ${bytes(size)} unpacked: neither this INF uses ${them(files)} nor those that it brings along.`;
}

function unusedByThisText({ count: files, bytes: size }: UnusedFiles, total: string): string {
  return `${counted(files, "file")} of ${total}, ${bytes(size)}, that this INF does not use; packages carry ${them(files)}.`;
}

function unusedByAllText({ count: files, bytes: size }: UnusedFiles, total: string): string {
  return `${counted(files, "unused file")} of ${total}, ${bytes(size)}: no printer INF of this ZIP uses ${them(files)}, and packages carry ${them(files)}.`;
}

function them(files: number): string {
  return files === 1 ? "it" : "them";
}

/** Whether the report of an earlier version gives unused files for each INF only: another printer INF may use them. */
function isPerInf({ unused, infs }: ArchiveReport): boolean {
  return unused === undefined && infs.filter((inf) => inf.isPrinter).length > 1;
}
