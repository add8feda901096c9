import { sharedDrivers } from "../../domain/deploy/deployment-choice.ts";
import type { PrinterWithState } from "../../domain/printers/listings.ts";
import { counted } from "../../domain/text.ts";
import { type Html, html } from "../html.ts";
import { copyable, helpLinks } from "../layout.ts";

/** `publish.ps1`, which creates apps in Intune. An administrator of the tenant runs it on a PC. */
export interface OfferedPublish {
  readonly path: string;
  readonly readPath: string;
  readonly fileName: string;
  /** Whether the script is for all printers of a client, and can make them one app. */
  readonly isForClient: boolean;
  /** The apps that it makes, as the end of a sentence that begins with “The script creates”. */
  readonly makes: string;
  readonly command: string;
  /** The number of days in which the script can download packages without signing in. Undefined if sign-in is off. */
  readonly linkDays: number | undefined;
}

/** The card of the script. What it needs and its parameters are folded. */
export function publishCard(publish: OfferedPublish): Html {
  const { path, readPath, fileName, makes, command, linkDays, isForClient } = publish;
  return html`<section class="card" id="card-publish"><h3>Publish to Intune</h3>
    <p>Run this script on your PC. It creates or updates the ${isForClient ? "apps" : "app"} in Intune. You assign ${isForClient ? "them" : "it"} to groups.</p>
    <p><a class="button primary" href="${path}">Download publish.ps1</a></p>
    ${copyable("Run this command in the download folder", command, "publish-command")}
    <details class="more" id="publish"><summary>Permission and parameters</summary>
      <p><code>${fileName}</code> <a href="${readPath}">View script<span class="visually-hidden">: ${fileName}</span></a></p>
      <p>Not tested in a real tenant. Run it with <code>-WhatIf</code> first: this shows what would change.</p>
      <p>The script creates ${makes}.</p>
      <p>The script signs you in and uploads the packages to Intune. It keeps your assignments and manual changes. Platen has
        no access to your tenant.</p>
      <p>An administrator must consent once to the Microsoft Graph permission
        <code>DeviceManagementApps.ReadWrite.All</code>. <code>-Register</code> makes an app registration of your own for it.</p>
      ${linkDays !== undefined && linksNote(linkDays)}
      <p>${isForClient && html`<code>-Together</code> creates one app for all printers.`}
        All parameters: <code>Get-Help .\\${fileName} -Full</code></p>
      ${helpLinks(["Help for publish.ps1", "publish"], ["Permission", "publish#the-permission"])}</details></section>`;
}

function linksNote(days: number): Html {
  return html`<p class="hint">The script’s links expire ${counted(days, "day")} after the download. Keep the script private until then.</p>`;
}

/** Describes the apps of a printer. @param siblings the deployable printers of its client, including this one */
export function appsOfPrinter(printerId: number, siblings: readonly PrinterWithState[]): string {
  const shared = sharedDrivers(siblings);
  const driver = shared.get(printerId);
  if (driver === undefined) return "one app, with the driver in it";
  const sharing = [...shared.values()].filter((id) => id === driver).length;
  return `two apps: the driver, shared by ${sharing} printers, and this printer`;
}

/** Describes the apps of a client's printers. @param rows the deployable ones */
export function appsOfClient(rows: readonly PrinterWithState[]): string {
  const shared = sharedDrivers(rows);
  const drivers = new Set(shared.values()).size;
  if (rows.length === 1) return "one app, with the driver in it";
  if (drivers === 0) return `${counted(rows.length, "app")}: one for each printer, with its driver in it`;
  const others = rows.length - shared.size;
  const parts = [
    counted(drivers, "driver app"),
    `${counted(shared.size, "printer app")} without driver`,
    ...(others === 0 ? [] : [`${counted(others, "printer app")} with driver`]),
  ];
  return `${counted(drivers + rows.length, "app")}: ${parts.join(", ")}`;
}
