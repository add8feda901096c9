import {
  architecturesInWords,
  chosenInf,
  completeFor,
  type Driver,
  type InfSummary,
  missingCountOf,
} from "../../domain/drivers/driver.ts";
import { type Html, html } from "../html.ts";
import { counted, firstOf } from "../text.ts";
import { carriesMuchUnused, type DropOffer, unusedRemark } from "./unused-files.ts";

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
