import type { Standing } from "../domain/listings.ts";
import { type Html, html } from "./html.ts";
import { badge } from "./layout.ts";

const words = { ready: "Ready", attention: "Attention", blocked: "Blocked" } as const;
const tones = { ready: "good", attention: "warn", blocked: "bad" } as const;

/** A state as a word, its worst reason one tap away. */
export function stateBadge({ state, findings }: Standing): Html {
  const [worst] = findings;
  const word = badge(tones[state], words[state]);
  if (worst === undefined) return word;
  return html`<details class="why"><summary>${word}</summary><p>${worst.text}</p></details>`;
}

/** All findings, a line each; the tone of the box is that of the worst. */
export function findingsNotice({ state, findings }: Standing): Html | undefined {
  if (findings.length === 0) return undefined;
  const items = findings.map((finding) => html`<li class="${tones[finding.state]}">${finding.text}</li>`);
  return html`<div class="notice ${tones[state]}"><ul class="findings">${items}</ul></div>`;
}
