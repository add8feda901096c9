import { sharedDrivers } from "../../domain/deploy/deployment-choice.ts";
import type { PrinterWithState } from "../../domain/printers/listings.ts";
import { counted } from "../../domain/text.ts";
import { type Html, html } from "../html.ts";
import { copyable } from "../layout.ts";

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
  /** Whether the script downloads packages from a loopback address, which works only on the service's own machine. */
  readonly isLoopbackOnly: boolean;
  /** The number of days in which the script can download packages without signing in. Undefined if sign-in is off. */
  readonly linkDays: number | undefined;
}

export const publishLink = html` Or <a href="#publish">publish by script</a>.`;

/** Folded, because users who fill in the form do not need it. Browsers unfold it for links to `#publish`, which is inside. */
export function publishFold(publish: OfferedPublish): Html {
  const { path, readPath, fileName, makes, command, linkDays } = publish;
  return html`<details class="more publish"><summary>Publish to Intune without filling in the form</summary>
    <p id="publish"><code>publish.ps1</code> runs on your own PC. It signs you in to Microsoft and creates
      the apps in Intune with every field of the form, or updates apps that it created before. It downloads the packages from
      Platen and uploads them to Microsoft. Platen itself has no access to any tenant and stores no password or token of one.
      Manual changes in Intune and assignments stay as they are.</p>
    <p>It makes ${makes}.</p>
    <p>An administrator of the tenant must once grant the delegated Microsoft Graph permission
      <code>DeviceManagementApps.ReadWrite.All</code>, to the app “Microsoft Graph Command Line Tools” or to one of your
      own (<code>-ClientId</code>). Step by step: <code>Get-Help .\\${fileName} -Full</code>, or
      <code>docs/intune.md</code> in Platen’s repository.</p>
    ${linkDays !== undefined && linksNote(linkDays)}
    ${publish.isLoopbackOnly && loopbackNote}
    <ul class="actions"><li><a class="button" href="${path}">Download publish.ps1</a></li>
      <li><a href="${readPath}">Read it<span class="visually-hidden">: ${fileName}</span></a></li>
      <li class="file-name"><code>${fileName}</code></li></ul>
    ${copyable("Run it in its folder", command, "publish-command")}
    <p>Optional parameters:</p>
    <dl>${parameters(publish).map(
      ([name, text]) => html`<div><dt><code>${name}</code></dt><dd>${text}</dd></div>`,
    )}</dl></details>`;
}

const loopbackNote = html`<p class="notice warn">The script downloads its packages from an address that works only on this machine. Run it
    here, or before you download it, open Platen by a name that other machines can reach, or set <code>PUBLIC_URL</code>.</p>`;

/** The most useful parameters. The script's own help and `docs/intune.md` list all of them. */
function parameters({ isForClient }: OfferedPublish): (readonly [string, string])[] {
  return [
    ["-WhatIf", "Says what it would do, and changes nothing."],
    ["-Tenant DOMAIN", "Signs in to that tenant, if you manage several."],
    ["-AssignTo ID,ID", "Assigns the apps to these groups as well: required, or with -Intent available."],
    ...(isForClient ? [["-Together", "Makes all printers one app."] as const] : []),
    ["-Package FOLDER", "Uses the .intunewin files in that folder, if this PC cannot reach Platen."],
    ["-Force", "Also overwrites fields that were changed in Intune."],
    [
      "-Remove",
      "Lists the apps of printers, clients and drivers that were deleted in Platen, asks, and deletes them.",
    ],
  ];
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
