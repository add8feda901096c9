import { derivePortName } from "../../domain/address.ts";
import { failureOf, refusalOf } from "../../domain/deploy/deployment-choice.ts";
import { chosenInf, type Driver, driverTitle } from "../../domain/drivers/driver.ts";
import { isWindowsDriver } from "../../domain/drivers/windows-drivers.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { Icon } from "../../domain/printers/icon.ts";
import { twinProblem } from "../../domain/printers/ipp-twin.ts";
import type { PrinterDetails, PrinterWithState } from "../../domain/printers/listings.ts";
import type { Preferences } from "../../domain/printers/preferences.ts";
import {
  effectiveDescription,
  ippUrlOf,
  isDriverOnly,
  type Printer,
  shareNameOf,
} from "../../domain/printers/printer.ts";
import { arm64Description, shipsArm64 } from "../../domain/printers/printer-drivers.ts";
import { printerDefaults } from "../../domain/printers/printer-fields.ts";
import {
  type Choices,
  collateModes,
  colorModes,
  duplexModes,
  labelOf,
  paperSizes,
  protocols,
} from "../../domain/printers/setting-values.ts";
import { effectiveSubnets } from "../../domain/subnet.ts";
import { type DeployOffer, deployCards, foldedDownloads, logoOf } from "../deploy/deploy.ts";
import { machinesOf, versionOf } from "../drivers/driver-label.ts";
import { printerLabels } from "../field-labels.ts";
import { type Hole, type Html, html } from "../html.ts";
import { canChange, helpLinks, type PageContext, page, recordActions } from "../layout.ts";
import { paths } from "../paths.ts";
import { counted, time } from "../text.ts";
import { iconSection, printerIcon, readOnlyIconSection } from "./icon.ts";
import { vendorDriverNote } from "./ipp-twin.ts";
import { preferencesSection } from "./preferences.ts";
import { ticketSummary } from "./printer-form.ts";

export interface PrinterPageData {
  readonly printer: Printer;
  readonly client: Client | undefined;
  readonly driver: Driver | undefined;
  /** The driver for ARM64 machines, where they install another one. */
  readonly arm64Driver: Driver | undefined;
  readonly icon: Icon | undefined;
  readonly preferences: Preferences | undefined;
  /** Why the last upload was refused. */
  readonly problems?: { readonly icon?: string; readonly preferences?: string } | undefined;
  readonly row: PrinterWithState;
  readonly revision: string | undefined;
  /** Undefined where the printer has no driver. */
  readonly offer: DeployOffer | undefined;
  /** The state in words, with the last deployment. */
  readonly stateLine: Html;
}

export function printerPage(context: PageContext, data: PrinterPageData): Html {
  const { printer, client, row, icon, problems, stateLine } = data;
  const { id, name } = printer;
  const isChangeable = canChange(context.visitor);
  const action = recordActions(context, {
    kind: "printer",
    id,
    isChangeable,
    links: [
      { label: "Edit", path: paths.printerEdit(id) },
      { label: "Duplicate", path: paths.printerCopy(id) },
      ...(twinProblem(row) === undefined ? [{ label: "Make an IPP twin", path: paths.printerTwin(id) }] : []),
    ],
    deletion: { consequence: "Deleting does not remove the printer from PCs. Uninstall it there first." },
  });
  return page(
    { ...context, title: name, heading: html`<bdi>${name}</bdi>`, section: "Printers", action },
    html`<p class="soft">${client ? html`<a href="${paths.client(client.id)}"><bdi>${client.name}</bdi></a>` : "No client"}</p>
    ${stateLine}
    <div class="deploy-page">
      ${deploySection(data, isChangeable)}
      <div class="deploy-side">
        ${settingsSection(data)}
        ${driverSection(data, isChangeable)}
        ${preferencesSection(data, isChangeable)}
        ${isChangeable ? iconSection(printerIcon(data), icon, problems?.icon) : readOnlyIconSection(printerIcon(data), icon)}
      </div>
    </div>`,
  );
}

/** The downloads: folded if they are known to fail, left out if they would be refused. */
function deploySection(
  { row, offer, icon, printer, client }: PrinterPageData,
  isChangeable: boolean,
): Html | undefined {
  if (offer === undefined || refusalOf(row) !== undefined) return undefined;
  const cards = deployCards(offer, printerLogo({ printer, client }, icon, isChangeable));
  return html`<section class="deploy" id="deploy"><h2 class="visually-hidden">Deploy</h2>
    ${failureOf(row) === undefined ? cards : foldedDownloads(cards)}</section>`;
}

/** An out-of-band fragment with the logo, after a change of the icon. */
export function logoUpdate(details: PrinterDetails, icon: Icon | undefined): Html {
  return printerLogo(details, icon, true, html`hx-swap-oob="true"`);
}

function printerLogo(
  { printer: { id }, client }: PrinterDetails,
  icon: Icon | undefined,
  isChangeable: boolean,
  attributes?: Html,
): Html {
  const hint = isChangeable ? html`none yet: upload one under <a href="#icon">Icon</a>` : html`none yet`;
  const ofClient = client?.icon && paths.iconDownload("client", client.id);
  return logoOf(icon ? paths.iconDownload("printer", id) : ofClient, hint, attributes);
}

/** All settings, for the page and for fragments. Those with their default are folded. */
export function settingsSection({
  printer,
  client,
  revision,
}: Pick<PrinterPageData, "printer" | "client" | "revision">): Html {
  const rows = settingRows(printer, client);
  const defaults = rows.filter(({ isDefault }) => isDefault);
  const others = rows.filter(({ isDefault }) => !isDefault);
  if (revision !== undefined) others.push(row("Revision", html`<code>${revision}</code>`));
  others.push(row("Changed", time(printer.updated_at)));
  return html`<section id="printer-settings"><h2>Settings</h2>
    ${definitions(others)}
    ${
      defaults.length > 0 &&
      html`<details class="more"><summary>${counted(defaults.length, "default setting")}</summary>
      ${definitions(defaults)}</details>`
    }
    ${helpFor(printer)}</section>`;
}

function settingRows(printer: Printer, client: Client | undefined): Row[] {
  const { address, port_name, protocol, port_number, snmp, replaces: replaced } = printer;
  const target = {
    raw: html`, port ${port_number}`,
    lpr: html`, queue <code>${printer.lpr_queue}</code>`,
    ipp: html` at <code>${ippUrl(printer)}</code>`,
  }[protocol];
  const isDefaultPort = protocol === printerDefaults.protocol && port_number === printerDefaults.port_number;
  const snmpDetails = html`yes, community <code>${printer.snmp_community}</code>, index ${printer.snmp_index}`;
  const ticket = printer.print_ticket;
  const isDerived = port_name === derivePortName(address);
  return [
    row(printerLabels.address, isDriverOnly(printer) ? "none (driver only)" : code(address)),
    row(
      printerLabels.port_name,
      protocol === "ipp" ? "set by Windows" : code(port_name),
      protocol === "ipp" || isDerived,
    ),
    row(printerLabels.protocol, html`${labelOf(protocols, protocol)}${target}`, isDefaultPort),
    flagRow(printerLabels.snmp, snmp, snmpDetails),
    textRow(printerLabels.location, printer.location),
    textRow(printerLabels.comment, printer.comment),
    flagRow(printerLabels.set_default, printer.set_default, "yes"),
    flagRow("Shared", printer.shared, html`as <code>${shareNameOf(printer)}</code>`),
    row(
      printerLabels.permission_sddl,
      printer.permission_sddl === "" ? "as Windows decides" : code(printer.permission_sddl),
      printer.permission_sddl === "",
    ),
    flagRow(printerLabels.keep_printed, printer.keep_printed, "yes"),
    flagRow(printerLabels.hold_mismatched, printer.hold_mismatched, "yes"),
    choiceRow(printerLabels.duplex, duplexModes, printer.duplex),
    choiceRow(printerLabels.color, colorModes, printer.color),
    choiceRow(printerLabels.collate, collateModes, printer.collate),
    choiceRow(printerLabels.paper_size, paperSizes, printer.paper_size),
    row(printerLabels.print_ticket, ticket === "" ? noneText : ticketSummary(ticket), ticket === ""),
    flagRow(printerLabels.reset_user_preferences, printer.reset_user_preferences, "once after each change"),
    subnetsRow(printer, client),
    flagRow(printerLabels.requires_reachable, printer.requires_reachable, "yes, in Intune"),
    flagRow(printerLabels.keep_driver, printer.keep_driver, "yes"),
    row(printerLabels.replaces, codes(replaced), replaced.length === 0),
  ];
}

/** The printer's own subnets, otherwise its client's. */
function subnetsRow(printer: Printer, client: Client | undefined): Row {
  const subnets = effectiveSubnets(printer, client);
  if (subnets.length === 0) return row("Subnets", html`<span class="soft">all</span>`, true);
  const isOwn = printer.subnets.length > 0 || client === undefined;
  const ofClient = !isOwn && html`<br>from <a href="${paths.client(client.id)}">the client</a>`;
  return row("Subnets", html`${codes(subnets)}${ofClient}`);
}

const noneText = html`<span class="soft">none</span>`;

/** One line for each text, because queue names may contain spaces. */
function codes(texts: readonly string[]): Hole {
  return texts.length > 0
    ? texts.map((text, i) => html`${i > 0 && html`<br>`}<code>${text}</code>`)
    : noneText;
}

/** The URL of an IPP printer. Browsers may break the line before its path. */
function ippUrl(printer: Printer): Html {
  const { ipp_path } = printer;
  return html`${ippUrlOf(printer).slice(0, -ipp_path.length)}<wbr>${ipp_path}`;
}

function code(text: string): Html {
  return text === "" ? noneText : html`<code>${text}</code>`;
}

function textRow(term: string, text: string): Row {
  return row(term, text === "" ? noneText : html`<bdi>${text}</bdi>`, text === "");
}

function flagRow(term: string, isSet: boolean, yes: Hole): Row {
  return row(term, isSet ? yes : "no", !isSet);
}

/** An empty value means the driver's default, which is shown in grey. */
function choiceRow<T extends string>(term: string, choices: Choices<T>, value: T): Row {
  const label = labelOf(choices, value);
  return row(term, value === "" ? html`<span class="soft">${label}</span>` : label, value === "");
}

function driverSection({ printer, driver, arm64Driver, row }: PrinterPageData, isChangeable: boolean): Html {
  if (driver === undefined) return html`<section><h2>Driver</h2><p>No driver assigned.</p></section>`;
  return html`<section id="printer-drivers"><h2>Driver</h2>${factsOf(driver, effectiveDescription(printer, driver))}
    ${
      arm64Driver === undefined
        ? withoutArm64(printer, driver, isChangeable)
        : html`<h3>On ARM64 PCs</h3>${factsOf(arm64Driver, arm64Description(printer, arm64Driver))}`
    }${vendorDriverNote(row, isChangeable)}</section>`;
}

function factsOf(driver: Driver, model: string): Html {
  const inf = chosenInf(driver);
  return definitions([
    row("Driver", html`<a href="${paths.driver(driver.id)}"><bdi>${driverTitle(driver)}</bdi></a>`),
    row("Model", html`<bdi>${model || "not chosen yet"}</bdi>`),
    row("Architecture", machinesOf(inf)),
    row("Version", isWindowsDriver(driver) ? "comes with Windows" : versionOf(inf)),
  ]);
}

function withoutArm64({ id }: Printer, driver: Driver, isChangeable: boolean): Html | undefined {
  if (shipsArm64(driver) !== false) return undefined;
  const remedy = html` <a href="${paths.printerEdit(id)}#f-arm64_driver_id">Choose a driver for ARM64</a>`;
  return html`<p class="hint">This driver does not support ARM64.${isChangeable && remedy}</p>`;
}

/** The help about a printer's unusual settings. */
const helpTopics: readonly (readonly [title: string, page: string, isFor: (printer: Printer) => boolean])[] =
  [
    ["IPP queues", "driverless", ({ protocol }) => protocol === "ipp"],
    [
      "PrintTickets",
      "printers#trays-stapling-and-other-preferences",
      ({ print_ticket }) => print_ticket !== "",
    ],
    ["ARM64 PCs", "drivers#x64-and-arm64-pcs", ({ arm64_driver_id }) => arm64_driver_id !== null],
    [
      "User preferences",
      "printers#users-own-preferences",
      ({ reset_user_preferences }) => reset_user_preferences,
    ],
    ["Replacing queues", "printers#remove-what-the-printer-replaces", ({ replaces }) => replaces.length > 0],
  ];

/** Undefined for most printers. */
function helpFor(printer: Printer): Html | undefined {
  const topics = helpTopics.flatMap(([title, page, isFor]) =>
    isFor(printer) ? [[title, page] as const] : [],
  );
  return topics.length > 0 ? helpLinks(...topics) : undefined;
}

interface Row {
  readonly term: string;
  readonly value: Hole;
  readonly isDefault: boolean;
}

function row(term: string, value: Hole, isDefault = false): Row {
  return { term, value, isDefault };
}

function definitions(rows: readonly Row[]): Html {
  return html`<dl>${rows.map(({ term, value }) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
}
