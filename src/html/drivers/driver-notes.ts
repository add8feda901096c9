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
import { unusedNote } from "./unused.ts";

type Tone = "bad" | "warn" | "good" | "plain";
type Note = readonly [tone: Tone, text: Html];

const shownNames = 8;
const tones: readonly Tone[] = ["bad", "warn", "good", "plain"];

/** What is to be known of the chosen INF and its archive besides findings, the worst first, a sentence each. */
export function infNotes(driver: Driver): Html {
  const notes = notesOf(driver);
  return html`<ul class="findings">${notes.map(([tone, text]) => html`<li class="${tone}">${text}</li>`)}</ul>`;
}

/** The tone of the worst of them. */
export function worstNote(driver: Driver): "bad" | "warn" | "good" {
  const [worst] = notesOf(driver);
  return worst === undefined || worst[0] === "plain" ? "good" : worst[0];
}

function notesOf(driver: Driver): Note[] {
  const inf = chosenInf(driver);
  const notes: Note[] = driver.report.warnings.map((warning) => ["warn", html`<bdi>${warning}</bdi>`]);
  if (inf !== undefined) notes.push(...fileNotes(inf), ...restNotes(inf, driver));
  return notes.sort(([a], [b]) => tones.indexOf(a) - tones.indexOf(b));
}

function fileNotes(inf: InfSummary): Note[] {
  const notes: Note[] = [];
  const missing = missingCountOf(inf);
  if (missing > 0) {
    const names = firstOf(inf.missing, shownNames, missing);
    const tone = completeFor(inf).includes("amd64") ? "warn" : "bad";
    notes.push([tone, html`Missing: <code><bdi>${names}</bdi></code>.`]);
  } else notes.push(["good", html`Every file that the INF needs is there.`]);
  if (inf.notShipped.length > 0) {
    const names = architecturesInWords(inf.notShipped);
    notes.push([
      "warn",
      html`Declared for ${names}, but its program files are for other machines: it will not work there.`,
    ]);
  }
  return notes;
}

/** What the archive holds besides. */
function restNotes(inf: InfSummary, driver: Driver): Note[] {
  const notes: Note[] = [["plain", unusedNote(inf, driver)]];
  if (inf.copyInf.length > 0) {
    const names = firstOf(inf.copyInf, shownNames);
    notes.push(["plain", html`Brings along: <code><bdi>${names}</bdi></code>.`]);
  }
  const others = driver.report.infs.filter((other) => !other.isPrinter && other.path !== inf.path);
  if (others.length > 0) {
    const names = others
      .slice(0, shownNames)
      .map(({ path, class: name }) => `${path} (${name ?? "no class"})`);
    const text = firstOf(names, shownNames, others.length);
    notes.push([
      "plain",
      html`${counted(others.length, "INF")} of other device classes beside it: <code><bdi>${text}</bdi></code>.`,
    ]);
  }
  return notes;
}
