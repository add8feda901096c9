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
  /** Whether it is signed, in a sentence. Undefined where nobody signs scripts. */
  readonly signed: string | undefined;
  /** The page of the same script without comments, and the size of that in bytes. Undefined for the page itself. */
  readonly withoutComments: { readonly path: string; readonly size: number } | undefined;
}

/** The largest script that Intune accepts as an app's installer, instead of a command line. */
const scriptInstallerBytes = 50_000;

/** The page cuts longer scripts. Without its settings, a script has about 40,000 characters. */
const visibleCharacters = 200_000;

export function scriptPage(context: PageContext, data: ScriptPageData): Html {
  const { kind, fileName, size, downloadPath, owner, section, signed } = data;
  const text = data.text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const isWhole = text.length <= visibleCharacters;
  const action = html`<a class="button primary" href="${downloadPath}">Download script</a>`;
  return page(
    { ...context, title: fileName, section, action },
    html`<p class="soft">Of <a href="${owner.path}"><bdi>${owner.name}</bdi></a>, ${bytes(size)}. Run the downloaded
      file: a copied script can lose its encoding.${kind === "install" && installerNote(data)}</p>
    ${signed && html`<p><bdi>${signed}</bdi></p>`}
    ${!isWhole && html`<p class="notice warn">Only the first ${bytes(visibleCharacters)} are shown. Download the script to read the rest.</p>`}
    <div class="snippet whole">
      <p class="label" id="script-label">Script</p>
      ${isWhole && html`<button type="button" class="copy" data-copy="script-text" aria-describedby="script-label" hidden>Copy</button>`}
      <pre id="script-text">${text.slice(0, visibleCharacters)}</pre>
    </div>`,
  );
}

function installerNote({ size, withoutComments }: ScriptPageData): Html {
  if (withoutComments === undefined)
    return html` Comments in the code are left out, for Intune’s script installer (50 KB).`;
  if (size <= scriptInstallerBytes) return html` Small enough for Intune’s script installer (50 KB).`;
  const { path } = withoutComments;
  const isOffered = withoutComments.size <= scriptInstallerBytes;
  return html` Too large for Intune’s script installer (50 KB).
    ${isOffered ? html`<a href="${path}">Leave out the comments in the code</a>.` : "Use the .intunewin package."}`;
}
