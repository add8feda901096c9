import { chosenInf, type Driver, driverTitle } from "../domain/driver.ts";
import type { Icon } from "../domain/icon.ts";
import type { ClientName, Standing } from "../domain/listings.ts";
import type { ListedFormat, PackageField } from "../domain/package-format.ts";
import { effectiveDescription, isDriverOnly, type Printer, shareNameOf } from "../domain/printer.ts";
import {
  type Choices,
  collateModes,
  colorModes,
  duplexModes,
  labelOf,
  paperSizes,
  protocols,
} from "../domain/printer-choices.ts";
import { deleteFold } from "./form.ts";
import { type Hole, type Html, html } from "./html.ts";
import { copyable, type Frame, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { findingsNotice, stateBadge } from "./standing.ts";
import { architectures, bytes, time } from "./text.ts";

/** A kind of package with what is filled in by hand for this printer. */
export interface FormatWithFields extends ListedFormat {
  readonly fields: readonly PackageField[];
}

/** Everything a printer's page shows. */
interface PrinterPageData {
  readonly printer: Printer;
  readonly client: ClientName | undefined;
  readonly driver: Driver | undefined;
  readonly icon: Icon | undefined;
  /** What is missing before it can be deployed, with the remedy; undefined when nothing is. */
  readonly needs: string | undefined;
  readonly standing: Standing;
  readonly revision: string | undefined;
  readonly formats: readonly FormatWithFields[];
  readonly install_cmd: string;
  readonly uninstall_cmd: string;
}

export function printerPage(frame: Frame, data: PrinterPageData): Html {
  const { printer, client } = data;
  const action = html`<a class="button" href="${paths.printerEdit(printer.id)}">Edit printer</a>`;
  return page(
    { ...frame, title: printer.name, place: "Printers", action },
    html`<p class="soft">${client ? html`<a href="${paths.client(client.id)}">${client.name}</a>` : "Without a client"}
      ${stateBadge(data.standing)}</p>
    ${deploySection(data)}
    ${settingsSection(data)}
    ${driverSection(data)}
    <section><h2>Icon</h2><p>Shown in Intune’s Company Portal: a PNG of 256 × 256 pixels, at most 750 KB.</p>
      ${iconForm(printer.id)}${iconStatus(printer.id, data.icon)}</section>
    ${deleteFold({
      what: "printer",
      consequence: "Machines that have it keep it. Uninstall it there first, or from your RMM.",
      action: paths.printerDelete(printer.id),
    })}`,
  );
}

function deploySection(data: PrinterPageData): Html {
  const { printer, driver, needs } = data;
  if (driver === undefined) {
    return html`<section class="notice warn"><h2>Deploy</h2><p>No driver assigned. Choose one to get scripts and packages.</p>
      <a class="button primary" href="${paths.printerEdit(printer.id)}#f-driver_id">Choose a driver</a></section>`;
  }
  if (needs !== undefined) {
    return html`<section class="notice warn"><h2>Deploy</h2><p>${needs}</p>
      <a class="button primary" href="${paths.driver(driver.id)}">Open the driver</a></section>`;
  }
  return html`<section class="deploy"><h2>Deploy</h2>${findingsNotice(data.standing)}
    ${copyable("Install command", data.install_cmd, "install_cmd")}
    ${copyable("Uninstall command", data.uninstall_cmd, "uninstall_cmd")}
    <div class="tabs">
      ${data.formats.map((format, i) => tab(format.id, format.target, formatPane(data, format), i === 0))}
      ${tab("hand", "By hand", byHand(data))}
    </div></section>`;
}

function tab(id: string, label: string, body: Html, isFirst = false): Html {
  return html`<input type="radio" name="deploy" id="tab-${id}" ${isFirst && html`checked`}>
    <label for="tab-${id}">${label}</label><div class="tab" id="pane-${id}">${body}</div>`;
}

function formatPane({ printer }: PrinterPageData, format: FormatWithFields): Html {
  const { id, fileType, guide, fields } = format;
  const rows = fields.map(
    ({ label, value, isCode }) => [label, isCode ? html`<code>${value}</code>` : value] as const,
  );
  return html`<p>${guide}</p>
    <ul class="actions">
      <li><a class="button primary" href="${paths.package(printer.id, id)}" download>Download ${fileType}</a></li>
      <li><a class="button" href="${paths.script(printer.id, "detect")}" download>Download detect.ps1</a></li>
    </ul>${rows.length > 0 && definitions(rows)}`;
}

function byHand({ printer }: PrinterPageData): Html {
  const kinds = ["install", "uninstall", "detect"] as const;
  const links = kinds.map(
    (kind) =>
      html`<li><a class="button" href="${paths.script(printer.id, kind)}" download>${kind}.ps1</a></li>`,
  );
  return html`<p>Each script works alone: without a <code>driver</code> folder beside it, install.ps1 fetches the driver
      from this service and checks it.</p><ul class="actions">${links}</ul>`;
}

function definitions(rows: readonly (readonly [string, Hole])[]): Html {
  return html`<dl>${rows.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** All settings, as the page shows them and as a save answers. */
export function settingsSection({ printer, revision }: Pick<PrinterPageData, "printer" | "revision">): Html {
  const none = html`<span class="soft">none</span>`;
  const code = (text: string) => (text === "" ? none : html`<code>${text}</code>`);
  const protocol = labelOf(protocols, printer.protocol);
  const rows: [string, Hole][] = [
    ["Queue", html`<code>${printer.name}</code>`],
    [
      "Address",
      printer.address === "" && isDriverOnly(printer)
        ? "none: deploys the driver alone"
        : code(printer.address),
    ],
    ["Port", code(printer.port_name)],
    [
      "Protocol",
      printer.protocol === "lpr"
        ? html`${protocol}, queue <code>${printer.lpr_queue}</code>`
        : `${protocol}, port ${printer.port_number}`,
    ],
    [
      "SNMP status",
      printer.snmp
        ? html`on, community <code>${printer.snmp_community}</code>, index ${printer.snmp_index}`
        : "off",
    ],
    ["Location", printer.location || none],
    ["Comment", printer.comment || none],
    ["Default printer", printer.set_default ? "yes" : "no"],
    ["Shared", printer.shared ? html`as <code>${shareNameOf(printer)}</code>` : "no"],
    ["Duplex", chosen(duplexModes, printer.duplex)],
    ["Colour", chosen(colorModes, printer.color)],
    ["Collate", chosen(collateModes, printer.collate)],
    ["Paper size", chosen(paperSizes, printer.paper_size)],
    ["Driver at uninstall", printer.keep_driver ? "stays" : "removed when nothing uses it"],
    [
      "Replaces",
      printer.replaces.length > 0 ? printer.replaces.map((name) => html`<code>${name}</code> `) : none,
    ],
    ["Changed", time(printer.updated_at)],
  ];
  if (revision !== undefined) rows.push(["Revision", html`<code>${revision}</code>`]);
  return html`<section id="printer-settings"><h2>Settings</h2>${definitions(rows)}
    <p><a href="${paths.printerEdit(printer.id)}">Edit these settings</a></p></section>`;
}

/** What is left to the driver is soft, as everything is that nobody set. */
function chosen<T extends string>(choices: Choices<T>, value: T): Html {
  const label = labelOf(choices, value);
  return value === "" ? html`<span class="soft">${label}</span>` : html`${label}`;
}

function driverSection({ printer, driver }: PrinterPageData): Html {
  if (driver === undefined) return html`<section><h2>Driver</h2><p>No driver assigned.</p></section>`;
  const inf = chosenInf(driver);
  const rows: [string, Hole][] = [
    ["Driver", html`<a href="${paths.driver(driver.id)}">${driverTitle(driver)}</a>`],
    ["Model", effectiveDescription(printer, driver) || "not chosen yet"],
    ["INF", html`<code>${driver.inf_path || "none"}</code>`],
    ["Version", inf?.driverVer ? `${inf.driverVer.version} of ${inf.driverVer.date}` : "not given"],
    ["Architectures", architectures(inf?.architectures ?? [])],
    ["Archive", `${driver.file_name}, ${bytes(driver.size)}`],
  ];
  return html`<section><h2>Driver</h2>${definitions(rows)}</section>`;
}

function iconForm(printerId: number): Html {
  return html`<form class="upload" method="post" action="${paths.icon(printerId)}" enctype="multipart/form-data"
    hx-post="${paths.icon(printerId)}" hx-encoding="multipart/form-data" hx-target="#icon-status" hx-disabled-elt="find button">
    <label for="f-icon">PNG file</label>
    <input id="f-icon" type="file" name="file" accept="image/png" required>
    <button>Upload icon</button>
    <progress max="100" value="0" hidden></progress></form>`;
}

/** What stands in `#icon-status`: the picture there is, or why one was refused. */
function iconStatus(printerId: number, icon: Icon | undefined, problem?: string): Html {
  return html`<div id="icon-status" aria-live="polite">${iconStatusBody(printerId, icon, problem)}</div>`;
}

export function iconStatusBody(printerId: number, icon: Icon | undefined, problem?: string): Html {
  return html`${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${icon === undefined && html`<p class="soft">No icon yet.</p>`}
    ${
      icon &&
      html`<figure class="icon"><img src="${paths.icon(printerId)}?${icon.sha256.slice(0, 8)}" width="128" height="128"
        alt="The printer’s icon"><figcaption>${bytes(icon.size)}, uploaded ${time(icon.uploaded_at)}</figcaption></figure>
      <form method="post" action="${paths.iconDelete(printerId)}"><button class="link">Remove the icon</button></form>`
    }`;
}
