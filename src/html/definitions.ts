import { type Hole, type Html, html } from "./html.ts";

/** A term with what is said of it. */
export interface Row {
  readonly term: string;
  readonly value: Hole;
  /** Whether nobody set it. */
  readonly isDefault: boolean;
}

export function row(term: string, value: Hole, isDefault = false): Row {
  return { term, value, isDefault };
}

export function definitions(rows: readonly Row[]): Html {
  return html`<dl>${rows.map(({ term, value }) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
}
