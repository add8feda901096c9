import {
  type ArchiveReport,
  architecturesInWords,
  chosenInf,
  completeFor,
  type Driver,
  type InfSummary,
  missingCountOf,
  type UnusedFiles,
} from "../../domain/drivers/driver.ts";
import { type Html, html } from "../html.ts";
import { paths } from "../paths.ts";
import { bytes, counted, firstOf } from "../text.ts";

type Tone = "bad" | "warn" | "good" | "plain";
type Remark = readonly [tone: Tone, text: Html];

const maxNames = 8;
const tones: readonly Tone[] = ["bad", "warn", "good", "plain"];

/**
 * Remarks on the chosen INF and its archive, the worst first; not the driver's findings.
 * @param offer how unused files can be left out here
 */
export function infRemarks(driver: Driver, offer: DropOffer = "none"): Html {
  const remarks = remarksOf(driver, offer);
  return html`<ul class="findings">${remarks.map(([tone, text]) => html`<li class="${tone}">${text}</li>`)}</ul>`;
}

/** The tone of the worst remark. */
export function worstTone(driver: Driver): "bad" | "warn" | "good" {
  const [worst] = remarksOf(driver, "none");
  return worst === undefined || worst[0] === "plain" ? "good" : worst[0];
}

function remarksOf(driver: Driver, offer: DropOffer): Remark[] {
  const inf = chosenInf(driver);
  const remarks: Remark[] = driver.report.warnings.map((warning) => ["warn", html`<bdi>${warning}</bdi>`]);
  if (inf !== undefined) remarks.push(...fileRemarks(inf), ...otherRemarks(inf, driver, offer));
  return remarks.sort(([a], [b]) => tones.indexOf(a) - tones.indexOf(b));
}

function fileRemarks(inf: InfSummary): Remark[] {
  const remarks: Remark[] = [];
  const missing = missingCountOf(inf);
  if (missing > 0) {
    const names = firstOf(inf.missing, maxNames, missing);
    const tone = completeFor(inf).includes("amd64") ? "warn" : "bad";
    remarks.push([tone, html`Missing: <code><bdi>${names}</bdi></code>.`]);
  } else remarks.push(["good", html`The ZIP contains all files of the INF.`]);
  if (inf.notShipped.length > 0) {
    const names = architecturesInWords(inf.notShipped);
    remarks.push([
      "warn",
      html`The INF lists ${names}, but the ZIP has no program files for it. The driver will not work on ${names}.`,
    ]);
  }
  return remarks;
}

/** Remarks on unused files, and on the archive's other INFs. */
function otherRemarks(inf: InfSummary, driver: Driver, offer: DropOffer): Remark[] {
  const tone = carriesMuchUnused(inf, driver) ? "warn" : "plain";
  const remarks: Remark[] = [[tone, unusedRemark(inf, driver, offer)]];
  if (inf.copyInf.length > 0) {
    const names = firstOf(inf.copyInf, maxNames);
    remarks.push(["plain", html`The INF also copies other INFs: <code><bdi>${names}</bdi></code>.`]);
  }
  const others = driver.report.infs.filter((other) => !other.isPrinter && other.path !== inf.path);
  if (others.length > 0) {
    const names = others.slice(0, maxNames).map(({ path, class: name }) => `${path} (${name ?? "no class"})`);
    const text = firstOf(names, maxNames, others.length);
    remarks.push([
      "plain",
      html`The ZIP also contains ${counted(others.length, "INF")} for other devices: <code><bdi>${text}</bdi></code>.`,
    ]);
  }
  return remarks;
}

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
type DropOffer = "none" | "page" | "fragment";

/** Fewer unused bytes are not worth a warning, nor a button of their own. */
const muchBytes = 1_000_000;

/** Whether packages carry so much that the INF does not use that somebody should leave it out. */
function carriesMuchUnused({ unused }: InfSummary, { drop_unused }: Driver): boolean {
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
