import type { ArchiveReport, Driver, InfSummary, UnusedFiles } from "../../domain/drivers/driver.ts";
import { type Html, html } from "../html.ts";
import { bytes, count, counted, firstOf } from "../text.ts";

const shownNames = 8;

/** Beside the checkbox that leaves files out of packages: what that saves with an INF. */
export function unusedHint(inf: Pick<InfSummary, "unused"> | undefined): string {
  if (inf === undefined) return "Packages then hold what the chosen INF uses, and no more.";
  const { unused } = inf;
  if (unused.count === 0) return "This INF uses every file: packages stay as they are.";
  return `Packages become ${bytes(unused.bytes)} smaller, counted unpacked: ${counted(unused.count, "file")} that neither this INF uses nor those that it brings along. Printers keep their revision: nothing installs again. An install script that was saved by itself before refuses the other files: download it again.`;
}

/** The same where a script has another INF chosen. */
export function unusedHintAnew(inf: Pick<InfSummary, "unused"> | undefined): Html {
  return html`<p class="hint" id="f-drop_unused-hint" hx-swap-oob="true">${unusedHint(inf)}</p>`;
}

/** What nothing in the archive uses, or what packages leave out. */
export function unusedNote(inf: InfSummary, { report, drop_unused }: Driver): Html {
  const unused = drop_unused ? inf.unused : (report.unused ?? inf.unused);
  const total = count(report.fileCount);
  if (unused.count === 0) {
    const files = report.fileCount === 1 ? "the only file belongs" : `all ${total} files belong`;
    return html`No unused files: ${files} to the driver.`;
  }
  const said = drop_unused ? leftOut : isOfOneInf(report) ? notOfThis : ofNoInf;
  const names = firstOf(unused.paths, shownNames, unused.count);
  return html`<details><summary>${said(unused, total)}</summary><p><code><bdi>${names}</bdi></code></p></details>`;
}

function leftOut({ count: files, bytes: size }: UnusedFiles, total: string): string {
  return `Packages leave out ${counted(files, "file")} of ${total}, ${bytes(size)} unpacked: neither this INF uses ${them(files)} nor those that it brings along.`;
}

function notOfThis({ count: files, bytes: size }: UnusedFiles, total: string): string {
  return `${counted(files, "file")} of ${total}, ${bytes(size)}, that this INF does not use; packages carry ${them(files)}.`;
}

function ofNoInf({ count: files, bytes: size }: UnusedFiles, total: string): string {
  return `${counted(files, "unused file")} of ${total}, ${bytes(size)}: no printer INF of this ZIP uses ${them(files)}, and packages carry ${them(files)}.`;
}

function them(files: number): string {
  return files === 1 ? "it" : "them";
}

/** Whether only each INF's own are known, and other printer INFs may use them. */
function isOfOneInf({ unused, infs }: ArchiveReport): boolean {
  return unused === undefined && infs.filter((inf) => inf.isPrinter).length > 1;
}
