import { type Html, html } from "./html.ts";

/** What an operator should know before something is deployed: what is certain, and what nobody here has seen. */
export interface Note {
  readonly title: string;
  readonly known: readonly string[];
  /** What no test without a Windows machine can show. */
  readonly unseen: readonly string[];
}

export function noteBlock({ title, known, unseen }: Note): Html {
  return html`<details class="more notes"><summary>What to know about this: ${title}</summary>
    <ul>${known.map((line) => html`<li>${line}</li>`)}</ul>
    <p>Not seen on a real Windows by us:</p><ul>${unseen.map((line) => html`<li>${line}</li>`)}</ul></details>`;
}
