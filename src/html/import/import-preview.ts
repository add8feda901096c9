import { groupBy } from "../../domain/collections.ts";
import { driverTitle } from "../../domain/drivers/driver.ts";
import type { Change, ImportPlan, PlannedRow, RowStatus } from "../../domain/import/import-plan.ts";
import type { Finding } from "../../domain/printers/findings.ts";
import { labelOfField } from "../field-labels.ts";
import { type Html, html } from "../html.ts";
import { badge } from "../layout.ts";
import { paths } from "../paths.ts";
import { count, counted, htmlList, isolated } from "../text.ts";

/** The hidden fields of the confirmation form. */
interface ConfirmedImport {
  /** The list in base64. */
  readonly state: string;
  /** Identifies the plan: the import is refused if it changes meanwhile. */
  readonly digest: string;
  readonly client: string;
  readonly takesAll: boolean;
}

/** Why nothing was imported: records changed since the preview, or rows are wrong. */
export type ImportRefusal = "stale" | "wrong";

const badges = [
  ["new", "good", "New"],
  ["changes", "warn", "Changes"],
  ["same", "plain", "Unchanged"],
  ["wrong", "bad", "Wrong"],
  ["left out", "plain", "Left out"],
] as const satisfies (readonly [RowStatus, string, string])[];

/** The folds for rows that are left out or stay the same list this many. */
const maxFolded = 500;

/** The second step of an import: the plan for each row, and the button that runs it. */
export function importPreview(plan: ImportPlan, confirmed: ConfirmedImport, refusal?: ImportRefusal): Html {
  const { rows, counts } = plan;
  const rowsOf = (status: RowStatus) => rows.filter((row) => row.status === status);
  const group = (status: RowStatus, title: string) =>
    counts[status] > 0 &&
    html`<section class="group"><h3>${title}</h3>${table(title, rowsOf(status))}</section>`;
  return html`<div id="import" class="preview"><h2 tabindex="-1" data-focus>Preview</h2>
    ${refusalNotice(refusal, counts.wrong)}
    <ul class="marks actions" aria-label="Preview summary">${summary(counts)}</ul>
    ${noticesOf(plan)}${confirmForm(plan, confirmed)}
    ${group("wrong", `Wrong: ${count(counts.wrong)}`)}${group("changes", `Changes: ${count(counts.changes)}`)}
    ${group("new", `New: ${count(counts.new)}`)}
    ${folded(rowsOf("left out"), "left out")}${folded(rowsOf("same"), "unchanged")}</div>`;
}

function summary(counts: ImportPlan["counts"]): Html[] {
  return badges
    .filter(([status]) => counts[status] > 0)
    .map(([status, tone, word]) => html`<li>${badge(tone, word)} ${count(counts[status])}</li>`);
}

function refusalNotice(refusal: ImportRefusal | undefined, wrong: number): Html | undefined {
  if (refusal === undefined) return undefined;
  const text =
    refusal === "stale"
      ? "Nothing was imported. The data changed after the preview. Check the new preview below."
      : `Nothing was imported: ${counted(wrong, "row is", "rows are")} wrong. Correct the list and import it again, or leave them out.`;
  return html`<div class="notice bad" role="alert"><p>${text}</p></div>`;
}

const maxNames = 12;

function noticesOf({ notices, newClients, missing, rows }: ImportPlan): Html | false {
  const names = (all: readonly Html[]) => htmlList(all.slice(0, maxNames), all.length - maxNames);
  const clients = names(newClients.map((name) => html`<bdi>${name}</bdi>`));
  const drivers = names(
    missing.map(
      ({ name, maker, printers }) =>
        html`<bdi>${name}</bdi>${maker !== "" && html` by <bdi>${maker}</bdi>`} (${counted(printers, "printer")})`,
    ),
  );
  const colliding = rows.filter(({ collisions }) => collisions.length > 0).length;
  const them = missing.length === 1 ? "it" : "them";
  const items = [
    colliding > 0 &&
      html`<li class="warn">${counted(colliding, "printer")} would have the same name or address as another printer of the client.</li>`,
    notices.map((notice) => html`<li class="warn">${notice}</li>`),
    newClients.length > 0 &&
      html`<li class="plain">${counted(newClients.length, "new client")}: ${clients}.</li>`,
    missing.length > 0 &&
      html`<li class="warn">${counted(missing.length, "driver is", "drivers are")} not in Platen: ${drivers}.
        <a href="${paths.uploadForm}">Upload ${them}</a> first, or <a href="${paths.help("drivers#take-a-driver-from-a-pc")}">take ${them} from a PC or server</a>
        that prints with ${them}: run <code>from-pc.ps1 -All</code> there. Or import the list again later.</li>`,
  ];
  const shown = items.flat().filter((item) => item !== false);
  return shown.length > 0 && html`<ul class="findings">${shown}</ul>`;
}

function confirmForm({ counts }: ImportPlan, { state, digest, client, takesAll }: ConfirmedImport): Html {
  const written = counts.new + counts.changes;
  return html`<form class="confirm" method="post" action="${paths.import}" enctype="multipart/form-data"
    hx-post="${paths.import}" hx-encoding="multipart/form-data" hx-target="#import" hx-swap="outerHTML" hx-disabled-elt="find .primary">
    <input type="hidden" name="state" value="${state}"><input type="hidden" name="digest" value="${digest}">
    <input type="hidden" name="client" value="${client}">${takesAll && html`<input type="hidden" name="all" value="on">`}
    ${
      counts.wrong > 0 &&
      written > 0 &&
      html`<div class="field check"><input id="f-leave" name="leave_wrong" type="checkbox" value="on">
        <label for="f-leave">Leave ${counted(counts.wrong, "wrong row")} out</label></div>`
    }
    <p class="actions">${written > 0 && html`<button class="primary">Import ${counted(written, "printer")}</button>`}
      ${counts["left out"] > 0 && takeAllButton(counts["left out"])}
      <a class="button" href="${paths.import}" data-back>Choose another list</a></p>
    ${written === 0 && html`<p>Nothing to import. ${nothingToImport(counts)}</p>`}</form>`;
}

function nothingToImport({ wrong, same, "left out": leftOut }: ImportPlan["counts"]): string {
  if (wrong === 0) return "This list changes nothing.";
  const others = same + leftOut > 0 ? " The other rows change nothing." : "";
  return `${counted(wrong, "row is", "rows are")} wrong.${others} Correct the list and import it again.`;
}

/** Shows the preview again, now with the rows that were left out. */
function takeAllButton(leftOut: number): Html {
  return html`<button name="all" value="on" formaction="${paths.importPreview}" hx-post="${paths.importPreview}">Include ${counted(leftOut, "left-out printer")}</button>`;
}

function folded(rows: readonly PlannedRow[], what: string): Html | undefined {
  const { length } = rows;
  if (length === 0) return undefined;
  const rest = length - maxFolded;
  return html`<details class="more"><summary>${counted(length, "printer")} ${length === 1 ? "is" : "are"} ${what}</summary>
    ${table(what, rows.slice(0, maxFolded))}${rest > 0 && html`<p class="soft">And ${count(rest)} more.</p>`}</details>`;
}

/** The rows, below the name of the driver that they share. */
function table(caption: string, rows: readonly PlannedRow[]): Html {
  const groups = [...groupBy(rows, ({ driver }) => driver)].map(
    ([
      driver,
      members,
    ]) => html`<tbody><tr class="shared"><th scope="rowgroup" colspan="5">${driver ? html`<bdi>${driverTitle(driver)}</bdi>` : "No driver"}
      <span class="soft">${counted(members.length, "printer")}</span></th></tr>${members.map(line)}</tbody>`,
  );
  return html`<table class="import-rows"><caption class="visually-hidden">${caption}</caption><thead><tr><th scope="col">Printer</th>
    <th scope="col">Client</th><th scope="col">Address</th><th scope="col">Model</th><th scope="col">Notes</th></tr></thead>${groups}</table>`;
}

function line(row: PlannedRow): Html {
  const { number, name, client, address, model, printerId } = row;
  const title = html`<bdi>${name || "no name"}</bdi>`;
  return html`<tr><td><span>${printerId === undefined ? title : html`<a href="${paths.printer(printerId)}">${title}</a>`}
      <span class="soft">row ${number}</span></span></td>
    <td data-label="Client">${client ? html`<bdi>${client}</bdi>` : html`<span class="soft">none</span>`}</td>
    <td data-label="Address"><code>${address || "none"}</code></td>
    <td>${model && html`<bdi>${model}</bdi>`}</td><td>${details(row)}</td></tr>`;
}

function details({ reasons, changes, remarks, collisions }: PlannedRow): Html | undefined {
  const items = [...reasons, ...changes.map(changed), ...remarks].map((item) => html`<li>${item}</li>`);
  const warnings = collisions.map(
    (finding) => html`<li class="warn">${isolated(finding.text)} ${otherOf(finding)}</li>`,
  );
  const all = [...warnings, ...items];
  return all.length === 0 ? undefined : html`<ul class="details">${all}</ul>`;
}

/** The printer that a row collides with, or the row of a new one. */
function otherOf({ other }: Finding): Html | undefined {
  if (other === undefined) return undefined;
  return other.id < 0
    ? html`See row ${-other.id}.`
    : html`<a href="${paths.printer(other.id)}">Open “<bdi>${other.name}</bdi>”</a>`;
}

function changed({ field, from, to }: Change): Html {
  return html`${labelOfField(field) ?? field}: ${visibleValue(from)} → ${visibleValue(to)}`;
}

const maxVisibleCharacters = 80;

function visibleValue(text: string): Html {
  const line = text.replaceAll("\n", ", ");
  if (line === "") return html`<span class="soft">empty</span>`;
  return html`<bdi>${line.length > maxVisibleCharacters ? `${line.slice(0, maxVisibleCharacters)}…` : line}</bdi>`;
}
