import type { Icon } from "../../domain/printers/icon.ts";
import { type Html, html } from "../html.ts";
import { paths } from "../paths.ts";
import { bytes, time } from "../text.ts";

/**
 * A printer's icon, and the form to replace it. In browsers with scripts, the form accepts any picture and converts it.
 * @param problem why the last upload was refused
 */
export function iconSection(printerId: number, icon: Icon | undefined, problem?: string): Html {
  return html`<section id="icon"><h2>Icon</h2>
    <p class="hint">Company Portal shows this icon.</p>
    <div id="icon-status" aria-live="polite">${iconStatusBody(printerId, icon, problem)}</div>
    ${iconForm(printerId)}</section>`;
}

/** For users who cannot change records; undefined where there is no icon. */
export function readOnlyIconSection(printerId: number, icon: Icon | undefined): Html | undefined {
  return icon && html`<section id="icon"><h2>Icon</h2>${iconFigure(printerId, icon)}</section>`;
}

function iconForm(printerId: number): Html {
  return html`<form class="icon-form" method="post" action="${paths.icon(printerId)}" enctype="multipart/form-data" data-guard
    hx-post="${paths.icon(printerId)}" hx-encoding="multipart/form-data" hx-target="#icon-status" hx-disabled-elt="find button">
    <label for="f-icon">Icon file</label>
    <p class="hint" id="icon-hint">A PNG of exactly 256 × 256 pixels, at most 750 KB.</p>
    <input id="f-icon" type="file" name="file" accept="image/png" required aria-describedby="icon-hint">
    <div class="icon-preview" hidden><canvas width="256" height="256" role="img" aria-label="Icon preview"></canvas>
      <p class="icon-facts" role="status"></p></div>
    <p class="problem icon-problem" role="alert" hidden></p>
    <button>Upload icon</button></form>`;
}

/** The content of `#icon-status`: the icon, and the problem of a refused upload. */
export function iconStatusBody(printerId: number, icon: Icon | undefined, problem?: string): Html {
  return html`${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${icon === undefined && html`<p class="soft">No icon yet.</p>`}
    ${icon && html`${iconFigure(printerId, icon)}${iconRemoval(printerId)}`}`;
}

function iconFigure(printerId: number, icon: Icon): Html {
  return html`<figure class="icon"><img src="${paths.icon(printerId)}?${icon.sha256.slice(0, 8)}" width="128" height="128"
    alt="The printer’s icon"><figcaption>${bytes(icon.size)}, uploaded ${time(icon.uploaded_at)}</figcaption></figure>`;
}

function iconRemoval(printerId: number): Html {
  return html`<form method="post" action="${paths.iconDelete(printerId)}" hx-post="${paths.iconDelete(printerId)}"
      hx-target="#icon-status" hx-disabled-elt="find button"><button class="link">Delete icon</button></form>`;
}
