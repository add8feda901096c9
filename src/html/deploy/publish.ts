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
  /** The apps that it makes, as the end of a sentence that begins with “It makes”. */
  readonly makes: string;
  readonly command: string;
  /** The number of days in which the script can download packages without signing in. Undefined if sign-in is off. */
  readonly linkDays: number | undefined;
}

/** The card of the script. What it needs and its parameters are folded. */
export function publishCard(publish: OfferedPublish): Html {
  const { path, readPath, fileName, makes, command, linkDays, isForClient } = publish;
  return html`<section class="card" id="card-publish"><h3>Publish to Intune</h3>
    <p>A script for your PC. It creates or updates the ${isForClient ? "apps" : "app"}; you assign ${isForClient ? "them" : "it"} to groups.</p>
    <p><a class="button primary" href="${path}">Download publish.ps1</a></p>
    ${copyable("Run it in its folder", command, "publish-command")}
    <details class="more" id="publish"><summary>Permission and parameters</summary>
      <p><code>${fileName}</code> <a href="${readPath}">Read it<span class="visually-hidden">: ${fileName}</span></a></p>
      <p>Not tested in a real tenant: run it with <code>-WhatIf</code> first. It makes ${makes}.</p>
      <p>It signs you in to Microsoft, downloads the packages from Platen and uploads them with every field of the form.
        Platen has no access to any tenant. Manual changes in Intune and assignments stay as they are.</p>
      <p>An administrator of the tenant grants the delegated Microsoft Graph permission
        <code>DeviceManagementApps.ReadWrite.All</code> once: to the app “Microsoft Graph Command Line Tools”, or to your own
        (<code>-ClientId</code>).</p>
      ${linkDays !== undefined && linksNote(linkDays)}
      <p>${isForClient && html`With <code>-Together</code>, it makes all printers one app.`}
        All parameters: <code>Get-Help .\\${fileName} -Full</code></p>
      ${helpLinks(["Parameters", "intune#parameters"], ["Permission", "intune#the-permission"])}</details></section>`;
}

function linksNote(days: number): Html {
  return html`<p class="hint">The script contains links to its packages, which end ${counted(days, "day")} after the day of its download (UTC).
      Until then, anyone with the script can download the packages without signing in. Afterwards, download the script again.</p>`;
}

/** Describes the apps of a printer. @param siblings the deployable printers of its client, including this one */
export function appsOfPrinter(printerId: number, siblings: readonly PrinterWithState[]): string {
  const shared = sharedDrivers(siblings);
  const driver = shared.get(printerId);
  if (driver === undefined) return "one app, with the driver in it";
  const sharing = [...shared.values()].filter((id) => id === driver).length;
  return `two apps: one for the driver, which ${sharing} printers of the client share, and a small one for this printer that depends on it`;
}

/** Describes the apps of a client's printers. @param rows the deployable ones */
export function appsOfClient(rows: readonly PrinterWithState[]): string {
  const shared = sharedDrivers(rows);
  const drivers = new Set(shared.values()).size;
  if (rows.length === 1) return "one app, with the driver in it";
  if (drivers === 0) return `${counted(rows.length, "app")}: one for each printer, with its driver in it`;
  const others = rows.length - shared.size;
  const parts = [
    `one for ${drivers === 1 ? "the driver" : `each of the ${drivers} drivers`} that printers share`,
    `a small one for each of the ${shared.size} printers that depend on ${drivers === 1 ? "it" : "one of them"}`,
    ...(others === 0
      ? []
      : [
          `one for ${others === 1 ? "the other printer" : `each of the ${others} others`}, with the driver in it`,
        ]),
  ];
  const listed = `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
  return `${counted(drivers + rows.length, "app")}: ${listed}`;
}
