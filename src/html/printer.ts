import { derivePortName } from "../domain/address.ts";
import type { Driver } from "../domain/driver.ts";
import type { Icon } from "../domain/icon.ts";
import type { PrinterOwner, StatedPrinter } from "../domain/listings.ts";
import { ippUrlOf, isDriverOnly, type Printer, shareNameOf } from "../domain/printer.ts";
import {
  type Choices,
  collateModes,
  colorModes,
  duplexModes,
  labelOf,
  paperSizes,
  protocols,
} from "../domain/printer-choices.ts";
import { printerDefaults } from "../domain/printer-fields.ts";
import { effectiveSubnets } from "../domain/subnet.ts";
import { historyLink } from "./audit.ts";
import { definitions, type Row, row } from "./definitions.ts";
import { type DeployOffer, deploySection, logoOf } from "./deploy.ts";
import { deleteFold } from "./form.ts";
import { type Hole, type Html, html } from "./html.ts";
import { iconSection, shownIcon } from "./icon.ts";
import { type Frame, mayChange, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { ticketSummary } from "./print-ticket.ts";
import { driverSection } from "./printer-drivers.ts";
import { printerNotes } from "./printer-notes.ts";
import { remedyOf } from "./remedies.ts";
import { stateBadge } from "./standing.ts";
import { counted, time } from "./text.ts";

/** Everything a printer's page shows. */
interface PrinterPageData {
  readonly printer: Printer;
  readonly client: PrinterOwner | undefined;
  readonly driver: Driver | undefined;
  /** Of ARM64 machines, where they take another one. */
  readonly arm64Driver: Driver | undefined;
  readonly icon: Icon | undefined;
  /** Why the last icon was refused. */
  readonly iconProblem?: string | undefined;
  readonly row: StatedPrinter;
  readonly revision: string | undefined;
  /** Undefined where the printer has no driver. */
  readonly offer: Omit<DeployOffer, "logo"> | undefined;
  /** What was downloaded before, and whether that is still what would be downloaded now. */
  readonly downloaded?: Html | undefined;
}

export function printerPage(frame: Frame, data: PrinterPageData): Html {
  const { printer, client, row, icon, iconProblem, downloaded } = data;
  const isChangeable = mayChange(frame.visitor);
  const action = isChangeable
    ? html`<a class="button" href="${paths.printerEdit(printer.id)}">Edit printer</a>`
    : undefined;
  const offer = data.offer && { ...data.offer, logo: printerLogo(printer.id, icon, isChangeable) };
  const [worst] = row.findings;
  const remedy = isChangeable && worst ? remedyOf(worst, row) : undefined;
  return page(
    { ...frame, title: printer.name, heading: html`<bdi>${printer.name}</bdi>`, place: "Printers", action },
    html`<p class="soft standing-line">${client ? html`<a href="${paths.client(client.id)}"><bdi>${client.name}</bdi></a>` : "Without a client"}
      ${stateBadge({ ...row, findings: [] })}</p>
    <div class="deploy-page">
      ${deploySection({ standing: row, offer, remedy, downloaded })}
      <div class="deploy-side">
        ${settingsSection(data, isChangeable)}
        ${driverSection(data, isChangeable)}
        ${isChangeable ? iconSection(printer.id, icon, iconProblem) : shownIcon(printer.id, icon)}
      </div>
    </div>
    ${historyLink(frame, "printer", printer.id)}
    ${
      isChangeable &&
      deleteFold({
        what: "printer",
        consequence: "Machines that have it keep it. Uninstall it there first, or from your RMM.",
        action: paths.printerDelete(printer.id),
      })
    }`,
  );
}

/** Brings the logo up to date where a fragment says that it changed. */
export function logoChanged(printerId: number, icon: Icon | undefined): Html {
  return printerLogo(printerId, icon, true, html`hx-swap-oob="true"`);
}

function printerLogo(
  printerId: number,
  icon: Icon | undefined,
  isChangeable: boolean,
  attributes?: Html,
): Html {
  const elsewhere = isChangeable ? html`none yet: upload one under <a href="#icon">Icon</a>` : html`none yet`;
  return logoOf(icon && paths.iconDownload(printerId), elsewhere, attributes);
}

/** All settings, as the page shows them and as a save answers; what nobody set is folded. */
export function settingsSection(
  { printer, client, revision }: Pick<PrinterPageData, "printer" | "client" | "revision">,
  isChangeable = true,
): Html {
  const rows = settingRows(printer, client);
  const defaults = rows.filter(({ isDefault }) => isDefault);
  const others = rows.filter(({ isDefault }) => !isDefault);
  if (revision !== undefined) others.push(row("Revision", html`<code>${revision}</code>`));
  others.push(row("Changed", time(printer.updated_at)));
  return html`<section id="printer-settings"><h2>Settings</h2>
    ${definitions(others)}
    ${
      defaults.length > 0 &&
      html`<details class="more"><summary>${counted(defaults.length, "setting")} at ${defaults.length === 1 ? "its" : "their"} default</summary>
      ${definitions(defaults)}</details>`
    }
    ${printerNotes(printer)}
    ${isChangeable && html`<p><a href="${paths.printerEdit(printer.id)}">Edit these settings</a></p>`}</section>`;
}

function settingRows(printer: Printer, client: PrinterOwner | undefined): Row[] {
  const usual = printerDefaults;
  const { address, port_name, protocol, port_number, snmp, replaces: replaced } = printer;
  const place = {
    raw: html`, port ${port_number}`,
    lpr: html`, queue <code>${printer.lpr_queue}</code>`,
    ipp: html` at <code>${ippPlace(printer)}</code>`,
  }[protocol];
  const isUsualPort = protocol === usual.protocol && port_number === usual.port_number;
  const community = html`on, community <code>${printer.snmp_community}</code>, index ${printer.snmp_index}`;
  const ticket = printer.print_ticket;
  const isDerived = port_name === derivePortName(address);
  return [
    row("Address", isDriverOnly(printer) ? "none: deploys the driver alone" : code(address)),
    row("Port", protocol === "ipp" ? "named by Windows" : code(port_name), protocol === "ipp" || isDerived),
    row("Protocol", html`${labelOf(protocols, protocol)}${place}`, isUsualPort),
    row("SNMP status", snmp ? community : "off", !snmp),
    row("Location", bdi(printer.location), printer.location === ""),
    row("Comment", bdi(printer.comment), printer.comment === ""),
    row("Default printer", printer.set_default ? "yes" : "no", !printer.set_default),
    row("Shared", printer.shared ? html`as <code>${shareNameOf(printer)}</code>` : "no", !printer.shared),
    row("Duplex", chosen(duplexModes, printer.duplex), printer.duplex === ""),
    row("Colour", chosen(colorModes, printer.color), printer.color === ""),
    row("Collate", chosen(collateModes, printer.collate), printer.collate === ""),
    row("Paper size", chosen(paperSizes, printer.paper_size), printer.paper_size === ""),
    row("PrintTicket", ticket === "" ? none : ticketSummary(ticket), ticket === ""),
    row(
      "Users’ own preferences",
      printer.reset_user_preferences ? "dropped, once per revision" : "stay",
      !printer.reset_user_preferences,
    ),
    placeRow(printer, client),
    row(
      "Driver at uninstall",
      printer.keep_driver ? "stays" : "removed when nothing uses it",
      !printer.keep_driver,
    ),
    row("Replaces", codes(replaced), replaced.length === 0),
  ];
}

/** Where it belongs, by its own settings or by its client's. */
function placeRow(printer: Printer, client: PrinterOwner | undefined): Row {
  const subnets = effectiveSubnets(printer, client);
  if (subnets.length === 0) return row("Subnets", html`<span class="soft">anywhere</span>`, true);
  const isOwn = printer.subnets.length > 0 || client === undefined;
  const ofClient = !isOwn && html`<br>of <a href="${paths.client(client.id)}">the client</a>`;
  return row("Subnets", html`${codes(subnets)}${ofClient}`);
}

const none = html`<span class="soft">none</span>`;

/** A line each: a queue's name may have blanks. */
function codes(texts: readonly string[]): Hole {
  return texts.length > 0 ? texts.map((text, i) => html`${i > 0 && html`<br>`}<code>${text}</code>`) : none;
}

/** Where an IPP printer is asked, to be broken before its path first. */
function ippPlace(printer: Printer): Html {
  const { ipp_path } = printer;
  return html`${ippUrlOf(printer).slice(0, -ipp_path.length)}<wbr>${ipp_path}`;
}

function code(text: string): Html {
  return text === "" ? none : html`<code>${text}</code>`;
}

function bdi(text: string): Html {
  return text === "" ? none : html`<bdi>${text}</bdi>`;
}

/** What is left to the driver is soft, as everything is that nobody set. */
function chosen<T extends string>(choices: Choices<T>, value: T): Html {
  const label = labelOf(choices, value);
  return value === "" ? html`<span class="soft">${label}</span>` : html`${label}`;
}
