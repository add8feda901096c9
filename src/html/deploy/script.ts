import { type Html, html } from "../html.ts";
import { type PageContext, page } from "../layout.ts";
import { bytes } from "../text.ts";

interface ScriptPageData {
  readonly kind: string;
  readonly fileName: string;
  readonly text: string;
  /** Size of the file in bytes. */
  readonly size: number;
  readonly downloadPath: string;
  readonly owner: { readonly name: string; readonly path: string };
  readonly section: "Printers" | "Clients" | "Drivers";
}

/** Intune's portal accepts scripts up to this size as an app's installer, instead of a command line. */
const scriptInstallerBytes = 50_000;

/** Longer texts are cut. The scripts without their settings have about 40,000 characters. */
const visibleCharacters = 200_000;

export function scriptPage(context: PageContext, data: ScriptPageData): Html {
  const { kind, fileName, size, downloadPath, owner, section } = data;
  const text = data.text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const isWhole = text.length <= visibleCharacters;
  const action = html`<a class="button primary" href="${downloadPath}">Download it</a>`;
  return page(
    { ...context, title: fileName, section, action },
    html`<p class="soft">Of <a href="${owner.path}"><bdi>${owner.name}</bdi></a>, ${bytes(size)}. Download it rather than paste
      it: its encoding is a part of it.${kind === "install" && installerNote(size)}</p>
    ${!isWhole && html`<p class="notice warn">Only the beginning is shown, ${bytes(visibleCharacters)} of it: download it to read the rest.</p>`}
    <div class="snippet whole">
      <p class="label" id="script-label">The script as it is downloaded</p>
      ${isWhole && html`<button type="button" class="copy" data-copy="script-text" aria-describedby="script-label" hidden>Copy</button>`}
      <pre id="script-text">${text.slice(0, visibleCharacters)}</pre>
    </div>`,
  );
}

function installerNote(size: number): Html {
  if (size <= scriptInstallerBytes) {
    return html` Intune’s script installer takes it: it has less than 50 KB.`;
  }
  return html` It is too large for Intune’s script installer, which takes 50 KB: enter the package’s command line there instead.`;
}
