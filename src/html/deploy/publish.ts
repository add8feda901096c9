import { sharedDrivers } from "../../domain/deploy/deployment-choice.ts";
import type { PrinterWithState } from "../../domain/printers/listings.ts";
import { counted } from "../../domain/text.ts";
import { type Html, html } from "../html.ts";
import { copyable } from "../layout.ts";

/** A script that publishes packages to Intune. A tenant's administrator runs it on a PC. */
export interface OfferedPublish {
  readonly path: string;
  readonly readPath: string;
  readonly fileName: string;
  /** Whether the script can publish several printers as one app. */
  readonly isOfMany: boolean;
  /** The apps that it makes, as the end of a sentence that begins with “It makes”. */
  readonly makes: string;
  readonly command: string;
  /** Whether it downloads packages from a loopback address, which works only on the service's own machine. */
  readonly isLoopbackOnly: boolean;
  /** For how many days it can download packages without signing in. Undefined if Platen has no sign-in. */
  readonly linkDays: number | undefined;
}

export const publishLink = html` Or <a href="#publish">publish by script</a>.`;

/** Folded, because users who fill in the form do not need it. The link's target is inside, so that browsers unfold it. */
export function publishFold(publish: OfferedPublish): Html {
  const { path, readPath, fileName, makes, command, linkDays } = publish;
  return html`<details class="more publish"><summary>Publish to Intune without filling in the form</summary>
    <p id="publish"><code>publish.ps1</code> runs on your own PC, signs you in at Microsoft and makes
      the apps in Intune with every field of the form, or brings up to date what it made before. It fetches the packages from
      Platen and sends them to Microsoft; Platen itself reaches no tenant and holds no password or token of one.
      What somebody changed there by hand stays as it is, and so do assignments.</p>
    <p>It makes ${makes}.</p>
    <p>An administrator of the tenant grants once the delegated Microsoft Graph permission
      <code>DeviceManagementApps.ReadWrite.All</code>, to the app “Microsoft Graph Command Line Tools” or to one of your
      own (<code>-ClientId</code>). Step by step: <code>Get-Help .\\${fileName} -Full</code>, or
      <code>docs/intune.md</code> in Platen’s repository.</p>
    ${linkDays !== undefined && linksNote(linkDays)}
    ${publish.isLoopbackOnly && loopbackNote}
    <ul class="actions"><li><a class="button" href="${path}">Download publish.ps1</a></li>
      <li><a href="${readPath}">Read it<span class="visually-hidden">: ${fileName}</span></a></li>
      <li class="file-name"><code>${fileName}</code></li></ul>
    ${copyable("Run it in the folder that it is in", command, "publish-command")}
    <p>Optional parameters:</p>
    <dl>${parameters(publish).map(
      ([name, text]) => html`<div><dt><code>${name}</code></dt><dd>${text}</dd></div>`,
    )}</dl></details>`;
}

const loopbackNote = html`<p class="notice warn">The script fetches its packages under an address that reaches Platen from this machine alone: run it
    here, or open Platen under the name that other machines know, or set <code>PUBLIC_URL</code>, before you download it.</p>`;

/** The most useful parameters. The script's own help and `docs/intune.md` list all of them. */
function parameters({ isOfMany }: OfferedPublish): (readonly [string, string])[] {
  return [
    ["-WhatIf", "Says what it would do, and changes nothing."],
    ["-Tenant DOMAIN", "Signs in to that tenant, where you look after several."],
    ["-AssignTo ID,ID", "Assigns the apps to these groups as well: required, or with -Intent available."],
    ...(isOfMany ? [["-Together", "Makes all printers one app."] as const] : []),
    ["-Package FOLDER", "Takes the .intunewin files from there, where this PC does not reach Platen."],
    ["-Force", "Also sets what somebody changed in Intune."],
    [
      "-Remove",
      "Lists the apps of printers, clients and drivers that were deleted in Platen, asks, and deletes them.",
    ],
  ];
}

function linksNote(days: number): Html {
  return html`<p class="hint">The script holds links to its packages, which end ${counted(days, "day")} after it was downloaded
      at the latest: until then whoever has it can fetch them without signing in. After that download it anew.</p>`;
}

/** Describes the apps of a printer. @param siblings the deployable printers of its client, with this printer */
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
  const whole = rows.length - shared.size;
  const parts = [
    `one for ${drivers === 1 ? "the driver" : `each of the ${drivers} drivers`} that printers share`,
    `a small one for each of the ${shared.size} printers that depend on ${drivers === 1 ? "it" : "one of them"}`,
    ...(whole === 0
      ? []
      : [
          `one for ${whole === 1 ? "the other printer" : `each of the ${whole} others`}, with the driver in it`,
        ]),
  ];
  const listed = `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
  return `${counted(drivers + rows.length, "app")}: ${listed}`;
}
