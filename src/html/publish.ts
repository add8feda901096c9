import { counted } from "../domain/sentences.ts";
import { type Html, html } from "./html.ts";
import { copyable } from "./layout.ts";
import { ownOnlyNote } from "./links.ts";

/** A script that puts packages into Intune, from the PC of whoever looks after the tenant. */
export interface OfferedPublish {
  readonly path: string;
  readonly fileName: string;
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

/** Folded: who fills in the form needs none of it. */
export function publishFold(publish: OfferedPublish): Html {
  const { path, fileName, makes, command, linkDays } = publish;
  return html`<details class="more publish" id="publish"><summary>Publish to Intune without filling in the form</summary>
    <p><code>publish.ps1</code> runs on your own PC, signs you in at Microsoft and makes
      the apps in Intune with every field of the form, or brings up to date what it made before. It fetches the packages from
      Platen and sends them to Microsoft; Platen itself reaches no tenant and holds no password or token of one.
      What somebody changed there by hand stays as it is, and so do assignments.</p>
    <p>It makes ${makes}.</p>
    <p>An administrator of the tenant grants once the delegated Microsoft Graph permission
      <code>DeviceManagementApps.ReadWrite.All</code>, to the app “Microsoft Graph Command Line Tools” or to one of your
      own (<code>-ClientId</code>). Step by step: <code>docs/publish.md</code> in Platen’s repository.</p>
    ${linkDays !== undefined && linksNote(linkDays)}
    ${ownOnlyNote(publish)}
    <ul class="actions"><li><a class="button" href="${path}">Download publish.ps1</a></li>
      <li class="file-name"><code>${fileName}</code></li></ul>
    ${copyable("Run it in the folder that it is in", command, "publish-command")}</details>`;
}

function linksNote(days: number): Html {
  return html`<p class="hint">The script holds links to its packages, which end ${counted(days, "day")} after it was downloaded
      at the latest: until then whoever has it can fetch them without signing in. After that download it anew.</p>`;
}
