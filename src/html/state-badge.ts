import type { Finding, State } from "../domain/printers/findings.ts";
import type { Stated, StatedDriver } from "../domain/printers/listings.ts";
import { type Html, html } from "./html.ts";
import { badge } from "./layout.ts";
import { driverRemedy } from "./remedies.ts";
import { isolated } from "./text.ts";

const words = { ready: "Ready", attention: "Attention", blocked: "Blocked" } as const;

/** What a state is called. */
export function stateWord(state: State): string {
  return words[state];
}

/** The tone of what is in a state. */
export function toneOf(state: State): "good" | "warn" | "bad" {
  return tones[state];
}

const tones = { ready: "good", attention: "warn", blocked: "bad" } as const;

/** A state as a word, its worst reason one tap away. */
export function stateBadge({ state, findings }: Stated): Html {
  const [worst] = findings;
  const word = badge(tones[state], words[state]);
  if (worst === undefined) return word;
  return html`<details class="why" name="why"><summary>${word}</summary><p>${isolated(worst.text)} ${remedy(worst)}</p></details>`;
}

/** All findings, a line each, in a box; its tone is that of the worst. */
export function findingsNotice({ state, findings }: Stated): Html | undefined {
  if (findings.length === 0) return undefined;
  const items = findings.map(
    (finding) => html`<li class="${tones[finding.state]}">${isolated(finding.text)}</li>`,
  );
  return html`<div class="notice ${tones[state]}"><ul class="findings">${items}</ul></div>`;
}

/** The findings of a driver, a line each, with the way to where each is mended. */
export function driverFindingLines({ findings }: StatedDriver): Html | undefined {
  if (findings.length === 0) return undefined;
  const items = findings.map(
    (finding) => html`<li class="${tones[finding.state]}">${isolated(finding.text)} ${remedy(finding)}</li>`,
  );
  return html`<ul class="findings">${items}</ul>`;
}

/** The way to where a finding can be mended, where that is another place than a reader would look. */
function remedy({ kind, driver }: Finding): Html | undefined {
  const found = driver === undefined ? undefined : driverRemedy(kind, driver);
  return found && html`<a href="${found.path}">${found.label}</a>`;
}
