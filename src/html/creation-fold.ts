import { type Html, html } from "./html.ts";

/** The primary button of a list's page, which unfolds the form for a new record below the heading. */
export function creationFold(id: string, label: string, isOpen: boolean, form: Html): Html {
  return html`<details class="fold" id="${id}" ${isOpen && html`open`}><summary class="button primary">${label}</summary>${form}</details>`;
}
