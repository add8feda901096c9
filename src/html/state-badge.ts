import type { PrinterToFix } from "../domain/errors.ts";
import type { Finding, State } from "../domain/printers/findings.ts";
import type { DriverWithState, PrinterWithState, WithState } from "../domain/printers/listings.ts";
import { type Html, html } from "./html.ts";
import { anchor, badge } from "./layout.ts";
import { paths } from "./paths.ts";
import { driverRemedy, remedyOf } from "./remedies.ts";
import { isolated } from "./text.ts";

const words = { ready: "Ready", attention: "Attention", blocked: "Blocked" } as const;

export function stateWord(state: State): string {
  return words[state];
}

export function toneOf(state: State): "good" | "warn" | "bad" {
  return tones[state];
}

const tones = { ready: "good", attention: "warn", blocked: "bad" } as const;

/**
 * A state as a word; a click opens its worst finding.
 * @param row a printer or a driver
 * @param isChangeable adds the link to a printer's form
 */
export function stateBadge(row: WithState | PrinterWithState, isChangeable = false): Html {
  const { state, findings } = row;
  const [worst] = findings;
  // The filter “Changed since last download” finds these printers too.
  if (worst === undefined && "changed" in row && row.changed) return badge("warn", "Changed");
  const word = badge(tones[state], words[state]);
  if (worst === undefined) return word;
  return html`<details class="why" name="why"><summary>${word}</summary><p>${isolated(worst.text)} ${remedy(worst, isChangeable ? row : undefined)} ${otherPrinter(worst)}
${"changed" in row && row.changed && html` Changed since the last download: deploy again.`}</p></details>`;
}

/** A printer's state as a word, beside it the finding of this kind, else the worst one, with links for those who can fix it. */
export function reasonBadge(row: PrinterWithState, wanted: string, isChangeable: boolean): Html {
  const finding = row.findings.find(({ kind }) => kind === wanted) ?? row.findings[0];
  const word = badge(tones[row.state], words[row.state]);
  if (finding === undefined) return word;
  return html`${word}<p>${isolated(finding.text)} ${isChangeable && anchor(remedyOf(finding, row))} ${otherPrinter(finding)}</p>`;
}

/** The findings of a driver, one per line, with links to the pages that fix them. */
export function driverFindingLines({ findings }: DriverWithState): Html | undefined {
  if (findings.length === 0) return undefined;
  const items = findings.map(
    (finding) => html`<li class="${tones[finding.state]}">${isolated(finding.text)} ${remedy(finding)}</li>`,
  );
  return html`<ul class="findings">${items}</ul>`;
}

function otherPrinter({ other }: Finding): Html | undefined {
  return other && html`<a href="${paths.printer(other.id)}">Open “<bdi>${other.name}</bdi>”</a>`;
}

/** Links to the page that fixes a driver's finding, if that is another page, or to the printer's own model. */
function remedy(finding: Finding, row?: WithState | (WithState & PrinterToFix)): Html | undefined {
  const { kind, driver } = finding;
  const isOwn = kind === "unchosen-model" && row !== undefined && "printer" in row;
  const found = isOwn ? remedyOf(finding, row) : driver && driverRemedy(kind, driver);
  return found && anchor(found);
}
