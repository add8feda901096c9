import type { Driver } from "../../domain/drivers/driver.ts";
import { type Preferences, preferencesCommand, takesPreferences } from "../../domain/printers/preferences.ts";
import type { Printer } from "../../domain/printers/printer.ts";
import { type Html, html } from "../html.ts";
import { copyable, helpLinks } from "../layout.ts";
import { paths } from "../paths.ts";
import { bytes, time } from "../text.ts";

interface PreferencesData {
  readonly printer: Printer;
  readonly driver: Driver | undefined;
  readonly preferences: Preferences | undefined;
  readonly problems?: { readonly preferences?: string } | undefined;
}

/** Preferences that only the vendor's driver understands. Undefined where a printer has and can have none. */
export function preferencesSection(
  { printer, driver, preferences, problems }: PreferencesData,
  isChangeable: boolean,
): Html | undefined {
  const canHave = driver !== undefined && takesPreferences(printer);
  if (preferences === undefined && !(canHave && isChangeable)) return undefined;
  const { id } = printer;
  return html`<section id="preferences"><h2>Vendor preferences</h2>
    <p class="hint">Trays, finishers and codes, as the driver saves them. They fit only this driver and version. How much they contain differs by vendor.</p>
    ${isChangeable ? html`<div id="preferences-status" aria-live="polite">${preferencesStatusBody(id, preferences, problems?.preferences)}</div>` : preferences && facts(id, preferences)}
    ${canHave && isChangeable && html`${source}${uploadForm(id)}`}
    ${helpLinks(["Vendor preferences", "printers#a-vendors-own-preferences"])}</section>`;
}

const source = html`<details class="more"><summary>Save them on a PC</summary><ol>
    <li>Use a queue with this driver that prints as wished.</li>
    <li>Paste this command into <em>Windows PowerShell</em> and choose the queue.
      ${copyable("Command", preferencesCommand, "preferences-command")}</li>
    <li>Upload the file that it names.</li></ol></details>`;

function uploadForm(id: number): Html {
  const path = paths.preferences(id);
  return html`<form class="preferences-form" method="post" action="${path}" enctype="multipart/form-data" data-guard
    hx-post="${path}" hx-encoding="multipart/form-data" hx-target="#preferences-status" hx-disabled-elt="find button">
    <label for="f-preferences">Preferences file</label>
    <p class="hint" id="preferences-hint">At most 1 MB. Install restores it once per revision.</p>
    <input id="f-preferences" type="file" name="file" required aria-describedby="preferences-hint">
    <button>Upload preferences</button></form>`;
}

/** The content of `#preferences-status`: the file, and the problem of a refused upload. */
export function preferencesStatusBody(
  id: number,
  preferences: Preferences | undefined,
  problem?: string,
): Html {
  return html`${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${preferences ? html`${facts(id, preferences)}${removal(id)}` : html`<p class="soft">No preferences yet.</p>`}`;
}

function facts(id: number, { size, uploaded_at, sha256, driver_desc }: Preferences): Html {
  return html`<p>${bytes(size)}, uploaded ${time(uploaded_at)} for <bdi>${driver_desc}</bdi>. <a href="${paths.preferences(id)}" download>Download</a></p>
    <p class="soft">SHA-256 <code>${sha256}</code></p>`;
}

function removal(id: number): Html {
  return html`<form method="post" action="${paths.preferencesDelete(id)}" hx-post="${paths.preferencesDelete(id)}"
      hx-target="#preferences-status" hx-disabled-elt="find button"><button class="link">Delete preferences</button></form>`;
}
