import type { ImportPlan } from "../../domain/import/import-plan.ts";
import { maxRows } from "../../domain/import/import-row.ts";
import type { ClientName } from "../../domain/printers/listings.ts";
import { type Refusal, refusalMessage } from "../error.ts";
import { checkbox, type FormState, textArea, textField } from "../form.ts";
import { type Html, html } from "../html.ts";
import { copyable, type Message, type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { bytes, counted } from "../text.ts";

export interface ImportPageData {
  readonly clients: readonly ClientName[];
  /** The PowerShell command for a print server or a PC. */
  readonly command: string;
  /** The maximum size of a list. */
  readonly limitBytes: number;
}

/** The form as it was sent. `text` is empty if it is too long to be sent back. */
export interface ImportForm {
  readonly client: string;
  readonly takesAll: boolean;
  readonly text: string;
  readonly problem?: Refusal | undefined;
}

export const emptyImport: ImportForm = { client: "", takesAll: false, text: "" };

/** The page “Import and export”. @param body the form, or a preview */
export function importPage(context: PageContext, body: Html): Html {
  return page({ ...context, title: "Import and export", section: "Printers" }, body);
}

/** The first step of an import, on the page and as a fragment. */
export function importStart(data: ImportPageData, form: ImportForm): Html {
  return html`<div id="import">${importForm(data, form)}${commandSection(data.command)}${exportSection}</div>`;
}

function importForm(
  { clients, limitBytes }: ImportPageData,
  { text, client, takesAll, problem }: ImportForm,
): Html {
  const form: FormState = { values: { text, client, all: takesAll ? "on" : "" }, problems: {} };
  return html`<form class="panel upload" method="post" action="${paths.importPreview}" data-guard
    enctype="multipart/form-data" hx-post="${paths.importPreview}" hx-encoding="multipart/form-data" hx-target="#import"
    hx-swap="outerHTML" hx-disabled-elt="find .primary">
    <h2>Import printers</h2>
    <div id="import-problem">${problem !== undefined && importProblem(problem)}</div>
    <div class="field"><label for="f-import-file">File</label>
      <p class="hint" id="f-import-file-hint">A CSV file, or the output of the command below. Up to ${counted(maxRows, "printer")}, ${bytes(limitBytes)}.
        <a href="${paths.help("import")}">Columns and rules</a></p>
      <input id="f-import-file" type="file" name="file" accept=".csv,.txt,.json,text/csv,application/json"
        aria-describedby="f-import-file-hint"></div>
    ${textArea(form, { label: "Or paste the list", name: "text", attributes: html`spellcheck="false"` })}
    ${textField(form, { label: "Client", name: "client", hint: "Used for rows without a client. A new name creates the client.", attributes: html`list="import-clients" autocomplete="off"` })}
    <datalist id="import-clients">${clients.map(({ name }) => html`<option value="${name}">`)}</datalist>
    ${checkbox(form, { label: "Import local and virtual printers too", name: "all", hint: "USB, LPT, PDF and OneNote printers work on one PC only." })}
    <p class="hint">Nothing changes until you confirm the preview.</p>
    <button class="primary">Show preview</button>
    <button type="button" class="cancel" hidden>Cancel</button>
    <progress max="100" value="0" hidden></progress>
  </form>`;
}

/** Why a list cannot be read. As a fragment, it replaces only this part of the form, which keeps its values. */
export function importProblem(problem: Refusal): Html {
  const { text, links = [] } = refusalMessage(problem);
  const remedies = links.map(({ label, path }) => html` <a href="${path}">${label}</a>`);
  return html`<div class="problems" role="alert" tabindex="-1" data-focus><p><strong>List not read.</strong> ${text}${remedies}</p></div>`;
}

function commandSection(command: string): Html {
  return html`<section class="print-server"><h2>From a print server or a PC</h2>
    <ol><li>Open <em>Windows PowerShell</em> on that PC or server. Administrator rights are not required.</li>
      <li>Paste this command and press Enter. It only copies the list.
        ${copyable("Command", command, "print-server")}</li>
      <li>Paste the list into the form above.</li></ol>
    <p class="hint">Shares, permissions and preferences are not copied. <a href="${paths.help("import")}">Help for imports</a></p></section>`;
}

const exportSection = html`<section id="export"><h2>Export printers</h2>
    <p>Export all printers with all settings. Edit the file and import it again.</p>
    <ul class="actions"><li><a class="button" href="${paths.exportPrinters}">Export CSV</a></li>
      <li><a class="button" href="${paths.exportPrinters}?separator=semicolon">Export CSV with semicolons</a></li></ul>
    <p class="hint">Excel in German, French and other languages requires semicolons.</p></section>`;

/** The message after an import. */
export function importMessage({ counts, newClients }: Pick<ImportPlan, "counts" | "newClients">): Message {
  const clients = newClients.length;
  const parts = [
    counts.new > 0 && counted(counts.new, "new printer"),
    counts.changes > 0 && `${counted(counts.changes, "printer")} changed`,
    clients > 0 && counted(clients, "new client"),
    counts.same > 0 && `${counted(counts.same, "printer")} unchanged`,
    counts["left out"] > 0 && `${counted(counts["left out"], "printer")} left out`,
    counts.wrong > 0 && `${counted(counts.wrong, "wrong row")} left out`,
  ].filter((part) => part !== false);
  const undone = counts.new > 0 && counts.changes > 0 ? " Undo restores only the changed printers." : "";
  const links = [
    { label: "Show printers", path: paths.printers },
    ...(clients > 0 ? [{ label: "Show clients", path: paths.clients }] : []),
  ];
  const what = counts.new + counts.changes > 0 ? "Imported" : "Nothing to import";
  return { tone: counts.wrong > 0 ? "warn" : "good", text: `${what}: ${parts.join(", ")}.${undone}`, links };
}
