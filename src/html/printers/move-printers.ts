import { chosenInf, type Driver, driverTitle, shippedBy } from "../../domain/drivers/driver.ts";
import type { AffectedPrinter } from "../../domain/drivers/driver-effects.ts";
import type { DriverWithState, OfferedDriver } from "../../domain/printers/listings.ts";
import type { MovePair, MovePlan } from "../../domain/printers/move-plan.ts";
import { driverChoices, driverLabel, machinesOf } from "../drivers/driver-label.ts";
import { nearestNames } from "../drivers/driver-models.ts";
import { type FormState, problemSummary, selectOptions } from "../form.ts";
import { type Html, html } from "../html.ts";
import { type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { findingsNotice } from "../state-badge.ts";
import { count, counted } from "../text.ts";

interface MovePageData {
  readonly from: Driver;
  /** All other drivers that support the printers' protocol. */
  readonly drivers: readonly OfferedDriver[];
  readonly printerCount: number;
  /** Undefined until a driver is chosen. */
  readonly plan: MovePlan | undefined;
  /** The driver that the printers move to. */
  readonly targetDriver: DriverWithState | undefined;
  readonly form: FormState;
}

const visiblePrinters = 8;
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
  if (printerCount === 0) return html`<p>No printer has this driver.</p>`;
  return from.origin === "ipp"
    ? html`<p>No other driver prints over IPP: choose another protocol and driver on the pages of these printers, or import a list with them.</p>`
    : html`<p>There is no other driver: <a href="${paths.uploadForm}">upload one</a> first.</p>`;
}

function targetForm({ from, drivers, plan }: MovePageData): Html {
  const options = selectOptions(driverChoices(drivers), String(plan?.to.id));
  return html`<form class="panel wide" method="get" action="${paths.driverMove(from.id)}" hx-get="${paths.driverMove(from.id)}"
    hx-trigger="change, submit" hx-target="#move-plan" hx-select="#move-plan" hx-swap="outerHTML" hx-push-url="true">
    <div class="field"><label for="f-to">To the driver</label>
    <select id="f-to" name="to">${plan === undefined && html`<option value="">Choose one</option>`}${options}</select></div>
    <noscript><button>Show what it does</button></noscript></form>`;
}

function planSection({ from, plan, targetDriver, form }: MovePageData): Html {
  if (plan === undefined) return html`<div id="move-plan">${problemSummary(form)}</div>`;
  const { to, pairs, keeping, digest } = plan;
  const total = new Set(pairs.flatMap(({ printers }) => printers.map(({ id }) => id))).size;
  const names = (chosenInf(to)?.descriptions ?? []).slice(0, maxSuggestions);
  return html`<div id="move-plan">
    ${targetDriver?.state === "blocked" && findingsNotice(targetDriver)}${fewerMachines(from, to)}${keepingNotice(keeping)}
    ${
      total > 0 &&
      html`<form method="post" action="${paths.driverMove(from.id)}" data-guard novalidate>
      ${problemSummary(form)}
      <input type="hidden" name="to" value="${to.id}"><input type="hidden" name="preview" value="${digest}">
      <table class="pairs"><thead><tr><th scope="col">Printers</th><th scope="col">Deploy now</th><th scope="col">Will deploy</th></tr></thead>
      <tbody>${pairs.map((pair, i) => pairRow(pair, i, form, to))}</tbody></table>
      <datalist id="move-models">${names.map((name) => html`<option value="${name}"></option>`)}</datalist>
      <p class="hint">${counted(total, "printer")} will install again: deploy ${total === 1 ? "it" : "them"} after the move.</p>
      <p class="actions"><button class="primary">Move ${counted(total, "printer")}</button>
        <a href="${paths.driver(from.id)}">Cancel</a></p>
    </form>`
    }</div>`;
}

function keepingNotice(keeping: readonly AffectedPrinter[]): Html | undefined {
  if (keeping.length === 0) return undefined;
  const keep = keeping.length === 1 ? "keeps its" : "keep their";
  return html`<p class="notice warn">${counted(keeping.length, "printer")} ${keep} driver for ARM64, because the new driver
    has no files for ARM64: ${printerNames(keeping, visiblePrinters)}.</p>`;
}

function fewerMachines(from: Driver, to: Driver): Html | undefined {
  const supported = shippedBy(to.listed);
  const dropped = shippedBy(from.listed).filter((name) => !supported.includes(name));
  if (dropped.length === 0) return undefined;
  return html`<p class="notice warn">The new driver has no program files for ${machinesOf({ architectures: dropped, notShipped: [] })}; the old one has them.</p>`;
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
  const label = (model === "" ? "printers without a model" : model) + (isArm64 ? " on ARM64 machines" : "");
  const field = html`<span class="${problem && "wrong"}"><label class="visually-hidden" for="f-${name}">New model for ${label}</label>
    ${problem && html`<span class="problem" id="f-${name}-problem">${problem}</span>`}
    ${nearestNames(
      name,
      chosenInf(to),
      [typed, model].find((text) => text !== ""),
    )}
    <input id="f-${name}" name="${name}" value="${typed}" list="move-models" autocomplete="off" spellcheck="false"
      ${match === undefined && html`required placeholder="Choose the model"`} ${problem && html`aria-invalid="true" aria-describedby="f-${name}-problem"`}></span>`;
  const hasSameName = match === model && problem === undefined && typed === match;
  return html`<tr><td data-label="Printers"><span>${printerNames(printers, visiblePrinters)}</span></td>
    <td data-label="Deploy now"><span><bdi>${model || "no model yet"}</bdi>${isArm64 && html` <span class="soft">on ARM64 machines</span>`}</span></td>
    <td data-label="Will deploy">${hasSameName ? html`<span><bdi>${typed}</bdi> <span class="soft">the same name</span></span>` : field}</td></tr>`;
}

/** Links to printers, each followed by its client's name. @param max further printers are only counted */
export function printerNames(printers: readonly AffectedPrinter[], max: number): Html {
  const names = printers.slice(0, max).map(({ id, name, client }, i) => {
    const of = client !== undefined && html` (<bdi>${client}</bdi>)`;
    return html`${i > 0 && ", "}<a href="${paths.printer(id)}"><bdi>${name}</bdi></a>${of}`;
  });
  const rest = printers.length - names.length;
  return html`${names}${rest > 0 && ` and ${count(rest)} more`}`;
}
