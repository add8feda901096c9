import { type Html, html } from "../html.ts";
import { type Frame, page } from "../layout.ts";
import { bytes } from "../text.ts";

interface ScriptPageData {
  /** install, uninstall, … */
  readonly kind: string;
  readonly fileName: string;
  readonly text: string;
  /** Of the file, in bytes. */
  readonly size: number;
  readonly downloadPath: string;
  /** Whose script it is. */
  readonly owner: { readonly name: string; readonly path: string };
  readonly place: "Printers" | "Clients" | "Drivers";
}

/** What Intune's portal takes of a script that installs an app in place of its command line. */
const scriptInstallerBytes = 50_000;

/** More characters are no page to read; the scripts themselves have some 40,000. */
const shownCharacters = 200_000;

/** The text of a script, before anybody downloads and runs it. */
export function scriptPage(frame: Frame, data: ScriptPageData): Html {
  const { kind, fileName, size, downloadPath, owner, place } = data;
  const text = data.text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const isWhole = text.length <= shownCharacters;
  const action = html`<a class="button primary" href="${downloadPath}">Download it</a>`;
  return page(
    { ...frame, title: fileName, place, action },
    html`<p class="soft">Of <a href="${owner.path}"><bdi>${owner.name}</bdi></a>, ${bytes(size)}. Download it rather than paste
      it: its encoding is a part of it.${kind === "install" && installerNote(size)}</p>
    ${!isWhole && html`<p class="notice warn">Only the beginning is shown, ${bytes(shownCharacters)} of it: download it to read the rest.</p>`}
    <div class="snippet whole">
      <p class="label" id="script-label">The script as it is downloaded</p>
      ${isWhole && html`<button type="button" class="copy" data-copy="script-text" aria-describedby="script-label" hidden>Copy</button>`}
      <pre id="script-text">${text.slice(0, shownCharacters)}</pre>
    </div>`,
  );
}

function installerNote(size: number): Html {
  if (size <= scriptInstallerBytes) {
    return html` Intune’s script installer takes it: it has less than 50 KB.`;
  }
  return html` It is too large for Intune’s script installer, which takes 50 KB: enter the package’s command line there instead.`;
}
