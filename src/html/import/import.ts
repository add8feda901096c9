import type { ImportPlan } from "../../domain/import/import-plan.ts";
import { maxRows } from "../../domain/import/import-row.ts";
import { csvColumns } from "../../domain/import/printer-csv.ts";
import type { ClientName } from "../../domain/printers/listings.ts";
import { type Refusal, refusalMessage } from "../error.ts";
import { type Html, html } from "../html.ts";
import { helpLinks, type Message, type PageContext, page } from "../layout.ts";
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
  return html`<div id="import">${importForm(data, form)}${commandSection(data.command)}${exportSection}
    ${columnsSection}</div>`;
}

function importForm({ clients, limitBytes }: ImportPageData, form: ImportForm): Html {
  return html`<form class="panel upload" method="post" action="${paths.importPreview}" data-guard
    enctype="multipart/form-data" hx-post="${paths.importPreview}" hx-encoding="multipart/form-data" hx-target="#import"
    hx-swap="outerHTML" hx-disabled-elt="find .primary">
    <h2>Import printers</h2>${helpLinks(["Lists to import", "import"])}
    <div id="import-problem">${form.problem !== undefined && importProblem(form.problem)}</div>
    <div class="field"><label for="f-import-file">File</label>
      <p class="hint" id="f-import-file-hint">A CSV as it is exported here, one of your own with some of its columns, or what the
        command below copies. Up to ${counted(maxRows, "printer")} and ${bytes(limitBytes)}.</p>
      <input id="f-import-file" type="file" name="file" accept=".csv,.txt,.json,text/csv,application/json"
        aria-describedby="f-import-file-hint"></div>
    <div class="field"><label for="f-import-text">Or paste the list</label>
      <textarea id="f-import-text" name="text" rows="4" spellcheck="false">${form.text}</textarea></div>
    <div class="field"><label for="f-import-client">Client</label>
      <p class="hint" id="f-import-client-hint">The client for all printers of a print server, and for new printers of a CSV without
        the column “client”. Existing printers keep their client. A new name creates the client.</p>
      <input id="f-import-client" name="client" value="${form.client}" list="import-clients" autocomplete="off"
        aria-describedby="f-import-client-hint">
      <datalist id="import-clients">${clients.map(({ name }) => html`<option value="${name}">`)}</datalist></div>
    <div class="field check"><input id="f-import-all" name="all" type="checkbox" value="on" ${form.takesAll && html`checked`}
        aria-describedby="f-import-all-hint"><label for="f-import-all">Import local and virtual printers too</label>
      <p class="hint" id="f-import-all-hint">USB, LPT, PDF, OneNote and such: they mean something on one computer alone.</p></div>
    <p class="hint">Nothing is changed yet: a preview says first what would become of each printer.</p>
    <button class="primary">Show the preview</button>
    <button type="button" class="cancel" hidden>Cancel</button>
    <progress max="100" value="0" hidden></progress>
  </form>`;
}

/** Why a list cannot be read. As a fragment, it replaces only this part of the form, which keeps its values. */
export function importProblem(problem: Refusal): Html {
  const { text, links = [] } = refusalMessage(problem);
  const remedies = links.map(({ label, path }) => html` <a href="${path}">${label}</a>`);
  return html`<div class="problems" role="alert" tabindex="-1" data-focus><p><strong>Not read.</strong> ${text}${remedies}</p></div>`;
}

function commandSection(command: string): Html {
  return html`<section class="print-server"><h2>From a print server or a PC</h2>
    <ol><li>Open <em>Windows PowerShell</em> there: Windows 8, Server 2012 or later, in any language; no administrator is needed.</li>
      <li>Paste this command, and press Enter. It changes nothing, and copies the list.
        <div class="command"><button type="button" class="copy" data-copy="print-server" hidden>Copy</button>
          <details class="more"><summary>See the command</summary>
            <pre><code id="print-server">${command}</code></pre></details></div></li>
      <li>Paste the list above. Or end the command with <code>&gt; printers.json</code> instead of <code>| Set-Clipboard</code>,
        and choose that file.</li></ol>
    <p class="hint">Its line with <code>$computer</code> can name another one. WSD ports get the address at which Windows found the device, on the
      computer itself alone. Shares, permissions and preferences are not taken.</p></section>`;
}

const exportSection = html`<section id="export"><h2>Export printers</h2>
    <p>All printers with all of their settings. Changed in a spreadsheet, the file can be imported again.</p>
    <ul class="actions"><li><a class="button" href="${paths.exportPrinters}">Download CSV</a></li>
      <li><a class="button" href="${paths.exportPrinters}?separator=semicolon">Download CSV with semicolons</a></li></ul>
    <p class="hint">The file has only a PrintTicket’s digest. The import takes the ticket from a printer here that has it; if none has, the
      preview says so. You can paste the XML into the cell instead.</p>
    <p class="hint">Excel in German, French and many other languages opens the one with semicolons. Cells that look like formulas
      get a leading apostrophe, which the import removes.</p></section>`;

const columnsSection = html`<section><details class="more"><summary>Columns of a CSV, and how its rows find their printers</summary>
    <p>Only “name” is needed. A column that is absent leaves a printer’s setting as it is; an empty cell is the default.</p>
    <ul class="columns">${csvColumns.map((name) => html`<li><code>${name}</code></li>`)}</ul>
    <ul class="rules"><li>A row is the printer that it was exported from (“id” with “created”), else the printer of its name at its
        client, whatever their case. A row that you copy and rename makes another printer.</li>
      <li>Without the column “client” printers keep their client. A row that was not exported from here is then the printer of its name at
        the client chosen above; where none is chosen, the only printer of that name at any client. Where several clients have
        one, the row is wrong.</li>
      <li>Drivers are found by “driver_sha256”, else by the model (“driver_desc”, “driver_model”), else by their
        name (“driver”). If several have the model, the import takes the one with the row’s version, else the printer’s current
        driver, else the newest. If you change “driver” or “driver_model” but not “driver_sha256”, the changed cell decides; if
        no driver here matches it, the row is wrong. Empty all three to remove a driver; a version or an INF alone names none.</li>
      <li>“arm64_driver” and the columns that begin with it say the same of the driver for ARM64 machines.</li>
      <li>A driver that is not here leaves a printer with the one that it has. A client that is not here is made.</li></ul>
  </details></section>`;

/** The message after an import. */
export function importMessage({ counts, newClients }: Pick<ImportPlan, "counts" | "newClients">): Message {
  const clients = newClients.length;
  const parts = [
    counts.new > 0 && counted(counts.new, "new printer"),
    counts.changes > 0 && `${counted(counts.changes, "printer")} changed`,
    clients > 0 && counted(clients, "new client"),
    counts.same > 0 && `${counted(counts.same, "printer")} the same as before`,
    counts["left out"] > 0 && `${counted(counts["left out"], "printer")} left out`,
    counts.wrong > 0 && `${counted(counts.wrong, "wrong row")} left out`,
  ].filter((part) => part !== false);
  const links = [
    { label: "See the printers", path: paths.printers },
    ...(clients > 0 ? [{ label: "See the clients", path: paths.clients }] : []),
  ];
  const what = counts.new + counts.changes > 0 ? "Imported" : "Nothing to import";
  return { tone: counts.wrong > 0 ? "warn" : "good", text: `${what}: ${parts.join(", ")}.`, links };
}
