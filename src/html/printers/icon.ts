import type { Icon } from "../../domain/printers/icon.ts";
import type { PrinterDetails } from "../../domain/printers/listings.ts";
import { type Html, html } from "../html.ts";
import { paths } from "../paths.ts";
import { bytes, time } from "../text.ts";

/** A record with an icon. */
interface IconOwner {
  readonly path: string;
  readonly alt: string;
  readonly hint: string;
  /** What shows while it has none. */
  readonly none: Html;
}

type ShownIcon = Pick<Icon, "sha256" | "size"> & Partial<Icon>;

export function printerIcon({ printer: { id }, client }: PrinterDetails): IconOwner {
  const hint = "Company Portal shows this icon.";
  const ofClient =
    client?.icon &&
    html`<p>The app uses <a href="${paths.client(client.id)}#icon">the icon of <bdi>${client.name}</bdi></a>.</p>`;
  return { path: paths.icon("printer", id), alt: "The printer’s icon", hint, none: ofClient || noIcon };
}

const noIcon = html`<p class="soft">No icon yet.</p>`;

export function clientIcon(id: number): IconOwner {
  const hint = "Company Portal shows this icon for printers without one of their own.";
  return { path: paths.icon("client", id), alt: "The client’s icon", hint, none: noIcon };
}

/**
 * An icon, and the form to replace it. In browsers with scripts, the form accepts any picture and converts it.
 * @param problem why the last upload was refused
 */
export function iconSection(owner: IconOwner, icon: ShownIcon | undefined, problem?: string): Html {
  return html`<section id="icon"><h2>Icon</h2>
    <p class="hint">${owner.hint}</p>
    <div id="icon-status" aria-live="polite">${iconStatusBody(owner, icon, problem)}</div>
    ${iconForm(owner)}</section>`;
}

/** For users who cannot change records; undefined where there is no icon. */
export function readOnlyIconSection(owner: IconOwner, icon: ShownIcon | undefined): Html | undefined {
  return icon && html`<section id="icon"><h2>Icon</h2>${iconFigure(owner, icon)}</section>`;
}

function iconForm(owner: IconOwner): Html {
  return html`<form class="icon-form" method="post" action="${owner.path}" enctype="multipart/form-data" data-guard
    hx-post="${owner.path}" hx-encoding="multipart/form-data" hx-target="#icon-status" hx-disabled-elt="find button">
    <label for="f-icon">Icon file</label>
    <p class="hint" id="icon-hint">A PNG of exactly 256 × 256 pixels, at most 750 KB.</p>
    <input id="f-icon" type="file" name="file" accept="image/png" required aria-describedby="icon-hint">
    <div class="icon-preview" hidden><canvas width="256" height="256" role="img" aria-label="Icon preview"></canvas>
      <p class="icon-facts" role="status"></p></div>
    <p class="problem icon-problem" role="alert" hidden></p>
    <button>Upload icon</button></form>`;
}

/** The content of `#icon-status`: the icon, and the problem of a refused upload. */
export function iconStatusBody(owner: IconOwner, icon: ShownIcon | undefined, problem?: string): Html {
  return html`${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${icon === undefined && owner.none}
    ${icon && html`${iconFigure(owner, icon)}${iconRemoval(owner)}`}`;
}

function iconFigure(owner: IconOwner, icon: ShownIcon): Html {
  return html`<figure class="icon"><img src="${owner.path}?${icon.sha256.slice(0, 8)}" width="128" height="128"
    alt="${owner.alt}"><figcaption>${bytes(icon.size)}${icon.uploaded_at !== undefined && html`, uploaded ${time(icon.uploaded_at)}`}</figcaption></figure>`;
}

function iconRemoval(owner: IconOwner): Html {
  const path = `${owner.path}/delete`;
  return html`<form method="post" action="${path}" hx-post="${path}"
      hx-target="#icon-status" hx-disabled-elt="find button"><button class="link">Delete icon</button></form>`;
}
