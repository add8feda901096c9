import { sharedDrivers } from "../../domain/deploy/deployment-choice.ts";
import type { StatedPrinter } from "../../domain/printers/listings.ts";
import { counted } from "../../domain/text.ts";
import { type Html, html } from "../html.ts";
import { copyable } from "../layout.ts";

/** A script that puts packages into Intune, from the PC of whoever looks after the tenant. */
export interface OfferedPublish {
  readonly path: string;
  /** Where its text is shown. */
  readonly readPath: string;
  readonly fileName: string;
  /** Whether several printers could be one app. */
  readonly isOfMany: boolean;
  /** Which apps it makes: what a sentence says behind “It makes”. */
  readonly makes: string;
  readonly command: string;
  /** Whether the address it fetches packages from leads other machines to themselves. */
  readonly isOwnOnly: boolean;
  /** So many days it can fetch them without anybody signing in here; undefined where nobody has to. */
  readonly linkDays: number | undefined;
}

/** Where the form is asked for that nobody has to fill in. */
export const publishLink = html` Or <a href="#publish">publish by script</a>.`;

/** Folded: who fills in the form needs none of it. The mark stands inside, so that browsers unfold it for the link. */
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
    ${publish.isOwnOnly && ownOnly}
    <ul class="actions"><li><a class="button" href="${path}">Download publish.ps1</a></li>
      <li><a href="${readPath}">Read it<span class="visually-hidden">: ${fileName}</span></a></li>
      <li class="file-name"><code>${fileName}</code></li></ul>
    ${copyable("Run it in the folder that it is in", command, "publish-command")}
    <p>Optional parameters:</p>
    <dl>${parameters(publish).map(
      ([name, text]) => html`<div><dt><code>${name}</code></dt><dd>${text}</dd></div>`,
    )}</dl></details>`;
}

const ownOnly = html`<p class="notice warn">The script fetches its packages under an address that reaches Platen from this machine alone: run it
    here, or open Platen under the name that other machines know, or set <code>PUBLIC_URL</code>, before you download it.</p>`;

/** What people ask for most; the script's own help and `docs/intune.md` have them all. */
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

/** Which apps a printer becomes. @param siblings what is deployed of its client, the printer with it */
export function appsOfPrinter(printerId: number, siblings: readonly StatedPrinter[]): string {
  const shared = sharedDrivers(siblings);
  const driver = shared.get(printerId);
  if (driver === undefined) return "one app, with the driver in it";
  const sharing = [...shared.values()].filter((id) => id === driver).length;
  return `two apps: one for the driver, which ${sharing} printers of the client share, and a small one for this printer that depends on it`;
}

/** Which apps a client's printers become. @param rows what is deployed */
export function appsOfClient(rows: readonly StatedPrinter[]): string {
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
