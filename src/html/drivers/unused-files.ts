import type { ArchiveReport, Driver, InfSummary, UnusedFiles } from "../../domain/drivers/driver.ts";
import { type Html, html } from "../html.ts";
import { paths } from "../paths.ts";
import { bytes, counted, firstOf } from "../text.ts";

const maxNames = 8;

/** The hint at the checkbox that leaves files out of packages: how much it saves. */
export function unusedHint(inf: Pick<InfSummary, "unused"> | undefined): string {
  if (inf === undefined) return "Packages contain only the files that the chosen INF uses.";
  const { unused } = inf;
  if (unused.count === 0) return "This INF uses all files of the ZIP.";
  return `Packages become ${bytes(unused.bytes)} smaller. Afterwards, download saved install scripts again.`;
}

/** The hint as an out-of-band fragment, after another INF was chosen. */
export function unusedHintUpdate(inf: Pick<InfSummary, "unused"> | undefined): Html {
  return html`<p class="hint" id="f-drop_unused-hint" hx-swap-oob="true">${unusedHint(inf)}</p>`;
}

/** `page`: the button loads the driver’s page. `fragment`: the answer replaces the remarks. */
export type DropOffer = "none" | "page" | "fragment";

/** Fewer unused bytes are not worth a warning, nor a button of their own. */
const muchBytes = 1_000_000;

/** Whether packages carry so much that the INF does not use that somebody should leave it out. */
export function carriesMuchUnused({ unused }: InfSummary, { drop_unused }: Driver): boolean {
  return !drop_unused && unused.bytes >= muchBytes;
}

/**
 * The files that the INF does not use: packages contain them or leave them out.
 * @param offer adds a button that changes it
 */
export function unusedRemark(inf: InfSummary, driver: Driver, offer: DropOffer = "none"): Html {
  const { report, drop_unused } = driver;
  const { unused } = inf;
  if (unused.count === 0) return html`The driver uses all files of the ZIP.`;
  const files = unusedInWords(unused, report);
  const names = firstOf(unused.paths, maxNames, unused.count);
  return html`<details><summary>Packages ${drop_unused ? "leave out" : "contain"} ${files} (${bytes(unused.bytes)}).</summary><p><code><bdi>${names}</bdi></code></p></details>
    ${offer !== "none" && (drop_unused || carriesMuchUnused(inf, driver)) && dropForm(inf, driver, offer)}`;
}

/** Other INFs of the ZIP may use files that this one does not. */
function unusedInWords({ count: files }: UnusedFiles, { unused, infs }: ArchiveReport): string {
  const isByAll = unused === undefined ? infs.length === 1 : unused.count === files;
  return isByAll ? counted(files, "unused file") : `${counted(files, "file")} that this INF does not use`;
}

/** Changes this one setting of the driver. */
function dropForm({ unused }: InfSummary, { id, drop_unused, report }: Driver, offer: DropOffer): Html {
  const files = unusedInWords(unused, report);
  const label = drop_unused ? "Include unused files" : `Leave out ${files} (${bytes(unused.bytes)} smaller)`;
  const fragment =
    offer === "fragment" &&
    html`hx-post="${paths.driver(id)}" hx-target="closest .findings" hx-swap="outerHTML" hx-disabled-elt="find button"`;
  return html`<form method="post" action="${paths.driver(id)}" ${fragment}><input type="hidden" name="only" value="drop_unused">
    ${!drop_unused && html`<input type="hidden" name="drop_unused" value="on">`}<button id="drop-unused-${id}">${label}</button></form>`;
}
