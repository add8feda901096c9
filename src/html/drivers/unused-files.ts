import type { ArchiveReport, Driver, InfSummary, UnusedFiles } from "../../domain/drivers/driver.ts";
import { type Html, html } from "../html.ts";
import { bytes, count, counted, firstOf } from "../text.ts";

const maxNames = 8;

/** The hint at the checkbox that leaves files out of packages: how much it saves. */
export function unusedHint(inf: Pick<InfSummary, "unused"> | undefined): string {
  if (inf === undefined) return "Packages then contain only the files that the chosen INF uses.";
  const { unused } = inf;
  if (unused.count === 0) return "This INF uses every file: packages stay as they are.";
  return `Packages become ${bytes(unused.bytes)} smaller (unpacked): they leave out ${counted(unused.count, "file")} that neither this INF nor the INFs that it copies use. Printers keep their revision, so nothing installs again. Download saved install scripts again: older ones refuse the changed files.`;
}

/** The hint as an out-of-band fragment, after another INF was chosen. */
export function unusedHintUpdate(inf: Pick<InfSummary, "unused"> | undefined): Html {
  return html`<p class="hint" id="f-drop_unused-hint" hx-swap-oob="true">${unusedHint(inf)}</p>`;
}

/** The unused files of the archive, or those that packages leave out. */
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
  return `Packages leave out ${counted(files, "file")} of ${total}, ${bytes(size)} unpacked: neither this INF nor the INFs that it copies use ${them(files)}.`;
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

/** Whether an earlier Platen made the report, with unused files for each INF only: another printer INF may use them. */
function isPerInf({ unused, infs }: ArchiveReport): boolean {
  return unused === undefined && infs.filter((inf) => inf.isPrinter).length > 1;
}
