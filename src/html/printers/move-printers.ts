import { architecturesInWords, chosenInf, type Driver, driverTitle } from "../../domain/drivers/driver.ts";
import type { AffectedPrinter } from "../../domain/drivers/driver-effects.ts";
import type { ChangeEffects } from "../../domain/printers/change-effects.ts";
import type { OfferedDriver } from "../../domain/printers/listings.ts";
import type { BulkPlan, MovePair, MovePlan } from "../../domain/printers/move-plan.ts";
import { driverChoices, driverLabel } from "../drivers/driver-label.ts";
import { nearestNames } from "../drivers/driver-models.ts";
import { type FormState, problemSummary, selectOptions } from "../form.ts";
import { type Hole, type Html, html } from "../html.ts";
import { type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { toneOf } from "../state-badge.ts";
import { counted, htmlList, isolated } from "../text.ts";

interface MovePageData {
  readonly from: Driver;
  /** All other drivers that support the printers' protocol. */
  readonly drivers: readonly OfferedDriver[];
  readonly printerCount: number;
  /** Undefined until a driver is chosen. */
  readonly plan: MovePlan | undefined;
  readonly effects: ChangeEffects | undefined;
  readonly form: FormState;
}

const visiblePrinters = 8;
/** Further effects of a change are only counted. */
const maxLines = 20;
/** More would make the page too large. Users can type any model of the driver. */
const maxSuggestions = 500;

/** Shows each pair of old and new model before the printers are moved. */
export function movePage(context: PageContext, data: MovePageData): Html {
  const { from } = data;
  return page(
    { ...context, title: `Move printers from ${driverTitle(from)}`, section: "Drivers" },
    html`<p class="soft"><a href="${paths.driver(from.id)}"><bdi>${driverLabel(from)}</bdi></a></p>
    ${data.drivers.length === 0 || data.printerCount === 0 ? nothingToMove(data) : html`${targetForm(data)}${planSection(data)}`}`,
  );
}

function nothingToMove({ from, printerCount }: MovePageData): Html {
  if (printerCount === 0) return html`<p>No printer uses this driver.</p>`;
  return from.origin === "ipp"
    ? html`<p>No other driver supports IPP. Change protocol and driver on each printer’s page.</p>`
    : html`<p>There is no other driver. <a href="${paths.uploadForm}">Upload one</a> first.</p>`;
}

function targetForm({ from, drivers, plan }: MovePageData): Html {
  const options = selectOptions(driverChoices(drivers), String(plan?.to.id));
  return html`<form class="panel wide" method="get" action="${paths.driverMove(from.id)}" hx-get="${paths.driverMove(from.id)}"
    hx-trigger="change, submit" hx-target="#move-plan" hx-select="#move-plan" hx-swap="outerHTML" hx-push-url="true">
    <div class="field"><label for="f-to">New driver</label>
    <select id="f-to" name="to">${plan === undefined && html`<option value="">Choose one</option>`}${options}</select></div>
    <noscript><button>Show preview</button></noscript></form>`;
}

function planSection({ from, plan, effects, form }: MovePageData): Html {
  if (plan === undefined || effects === undefined)
    return html`<div id="move-plan">${problemSummary(form)}</div>`;
  const { to, pairs, keeping, digest } = plan;
  const total = new Set(pairs.flatMap(({ printers }) => printers.map(({ id }) => id))).size;
  const names = (chosenInf(to)?.descriptions ?? []).slice(0, maxSuggestions);
  return html`<div id="move-plan">
    ${keepingNotice(keeping)}
    ${
      total > 0 &&
      html`<form method="post" action="${paths.driverMove(from.id)}" data-guard novalidate>
      ${problemSummary(form)}
      <input type="hidden" name="to" value="${to.id}"><input type="hidden" name="preview" value="${digest}">
      ${changeTable(
        { ...effects, redeployed: total },
        pairs.map((pair, i) => pairRow(pair, i, form, to)),
      )}
      <datalist id="move-models">${names.map((name) => html`<option value="${name}"></option>`)}</datalist>
      <p class="actions"><button class="primary">Move ${counted(total, "printer")}</button>
        <a href="${paths.driver(from.id)}">Cancel</a></p>
    </form>`
    }</div>`;
}

/** What a change does to each printer, below its bad effects. */
function changeTable(effects: ChangeEffects, rows: readonly Html[]): Html {
  const { worse, lostMachines, redeployed } = effects;
  const lines = [
    ...worse.map(
      ({ state, text, printers }) =>
        html`<li class="${toneOf(state)}">${counted(printers.length, "printer")} ${state === "blocked" ? "will be blocked" : "will need attention"}. ${isolated(text)} ${printerNames(printers, visiblePrinters)}.</li>`,
    ),
    ...lostMachines.map(
      ({ machines, printers }) =>
        html`<li class="warn">The new driver does not work on ${architecturesInWords(machines)} PCs: ${printerNames(printers, visiblePrinters)}.</li>`,
    ),
  ];
  const rest = lines.length - maxLines;
  return html`${lines.length > 0 && html`<div class="notice ${toneOf(worse[0]?.state ?? "attention")}"><ul class="findings">${lines.slice(0, maxLines)}${rest > 0 && html`<li>And ${counted(rest, "more reason")}.</li>`}</ul></div>`}
    <table class="pairs"><thead><tr>${["Printers", "Now", "Afterwards"].map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table>
    ${redeployed > 0 && html`<p class="hint">The packages of ${counted(redeployed, "printer")} change. Deploy them again.</p>`}`;
}

export interface BulkPreview {
  readonly what: "client" | "driver";
  /** The fields that the confirmation sends again. */
  readonly fields: Readonly<Record<string, string>>;
  readonly plan: BulkPlan;
  readonly effects: ChangeEffects;
  /** Whether the user confirmed another plan. */
  readonly isStale: boolean;
  /** The list of printers. */
  readonly back: string;
}

/** The preview for browsers without scripts. */
export function bulkPreviewPage(context: PageContext, data: BulkPreview): Html {
  return page({ ...context, title: `Change the ${data.what}`, section: "Printers" }, bulkPreview(data));
}

/** What a bulk change does, with a button to confirm it. Replaces the list. */
export function bulkPreview({ what, fields, plan, effects, isStale, back }: BulkPreview): Html {
  const { size } = plan.changes;
  const rows = plan.pairs.map(({ from, to, printers }) =>
    changeRow(
      printers,
      html`<bdi>${from || `no ${what}`}</bdi>`,
      html`<span><bdi>${to || `no ${what}`}</bdi></span>`,
    ),
  );
  return html`<div id="printer-list"><form class="panel wide" method="post" action="${paths.printersBulk}" tabindex="-1" data-focus
      aria-labelledby="preview-title" hx-post="${paths.printersBulk}" hx-target="#printer-list" hx-swap="outerHTML" hx-disabled-elt="find button">
      <h2 id="preview-title">Check before you change</h2>
      ${isStale && html`<p class="notice warn">The data changed meanwhile. Check the new effects below.</p>`}
      ${size > 0 ? changeTable(effects, rows) : html`<p>Nothing to change: these printers already have this ${what}.</p>`}
      ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
      <p class="actions">${size > 0 && html`<button class="primary">Change ${counted(size, "printer")}</button>`} <a href="${back}">Cancel</a></p>
    </form></div>`;
}

function keepingNotice(keeping: readonly AffectedPrinter[]): Html | undefined {
  if (keeping.length === 0) return undefined;
  const keep = keeping.length === 1 ? "keeps its" : "keep their";
  return html`<p class="notice warn">${counted(keeping.length, "printer")} ${keep} ARM64 driver, because the new driver does not support ARM64: ${printerNames(keeping, visiblePrinters)}.</p>`;
}

function changeRow(printers: readonly AffectedPrinter[], before: Hole, after: Hole): Html {
  return html`<tr><td data-label="Printers"><span>${printerNames(printers, visiblePrinters)}</span></td>
    <td data-label="Now"><span>${before}</span></td><td data-label="Afterwards">${after}</td></tr>`;
}

function pairRow(
  { model, isArm64, printers, match }: MovePair,
  i: number,
  form: FormState,
  to: Driver,
): Html {
  const name = `model_${i}`;
  const problem = form.problems[name];
  const typed = form.values[name] ?? match ?? "";
  const label = (model === "" ? "printers without a model" : model) + (isArm64 ? " on ARM64 PCs" : "");
  const field = html`<span class="${problem && "wrong"}"><label class="visually-hidden" for="f-${name}">New model for ${label}</label>
    ${problem && html`<span class="problem" id="f-${name}-problem">${problem}</span>`}
    <input id="f-${name}" name="${name}" value="${typed}" list="move-models" autocomplete="off" spellcheck="false"
      ${match === undefined && html`required placeholder="Choose a model"`} ${problem && html`aria-invalid="true" aria-describedby="f-${name}-problem"`}>
    ${nearestNames(
      name,
      chosenInf(to),
      [typed, model].find((text) => text !== ""),
    )}</span>`;
  const hasSameName = match === model && problem === undefined && typed === match;
  const now = html`<bdi>${model || "no model yet"}</bdi>${isArm64 && html` <span class="soft">on ARM64 PCs</span>`}`;
  const same = html`<span><bdi>${typed}</bdi> <span class="soft">same model</span></span>`;
  return changeRow(printers, now, hasSameName ? same : field);
}

/** Links to printers, each followed by its client's name. @param max further printers are only counted */
export function printerNames(printers: readonly AffectedPrinter[], max: number): Html {
  const names = printers.slice(0, max).map(({ id, name, client }) => {
    const of = client !== undefined && html` (<bdi>${client}</bdi>)`;
    return html`<a href="${paths.printer(id)}"><bdi>${name}</bdi></a>${of}`;
  });
  return htmlList(names, printers.length - names.length);
}
