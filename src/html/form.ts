import { groupBy } from "../domain/collections.ts";
import type { FieldMessages } from "../domain/errors.ts";
import { type FormInput, isTicked } from "../domain/fields.ts";
import { type Hole, type Html, html } from "./html.ts";

/** The values of a form, with a message for each refused field. */
export interface FormState {
  readonly values: FormInput;
  readonly problems: FieldMessages;
  /** Set where another user changed the same fields after the form was opened: their saved values. */
  readonly newerValues?: FormInput;
  /** The fields that only the other user changed: `values` has their saved values. */
  readonly kept?: readonly string[];
}

export const emptyForm: FormState = { values: {}, problems: {} };

interface FieldOptions {
  readonly label: string;
  readonly name: string;
  readonly hint?: Hole;
  readonly required?: boolean;
  readonly attributes?: Html;
  /** `controls.css` hides the field unless this is true of another field, or this field has a problem. */
  readonly visibleWhen?: Condition;
}

/** Each has a rule in `controls.css`. */
type Condition = "number" | "lpr" | "ipp" | "port" | "snmp" | "shared";

export function textField(state: FormState, options: FieldOptions & { readonly type?: string }): Html {
  const { name, type = "text" } = options;
  return field(
    state,
    options,
    (value) => html`<bdi>${value}</bdi>`,
    (aria) => html`<input id="${id(name)}" name="${name}" type="${type}"
    value="${state.values[name]}" ${options.required && html`required`} ${aria} ${options.attributes}>`,
  );
}

export function textArea(state: FormState, options: FieldOptions): Html {
  const { name } = options;
  return field(
    state,
    options,
    (value) => html`<bdi class="lines">${value}</bdi>`,
    (aria) => html`<textarea id="${id(name)}" name="${name}" rows="3"
    ${aria} ${options.attributes}>${state.values[name]}</textarea>`,
  );
}

/** An option of a select. Options of one group must be adjacent. */
export type SelectChoice = readonly [value: string, label: string, group?: string];

/** The options of a select; options with a group are in an `optgroup`. */
export function selectOptions(choices: readonly SelectChoice[], chosen: string): Html {
  const option = ([value, label]: SelectChoice) =>
    html`<option value="${value}" ${value === chosen && html`selected`}>${label}</option>`;
  const groups = [...groupBy(choices, ([, , group = ""]) => group)];
  return html`${groups.map(([group, members]) =>
    group === "" ? members.map(option) : html`<optgroup label="${group}">${members.map(option)}</optgroup>`,
  )}`;
}

export function selectField(
  state: FormState,
  options: FieldOptions & { readonly choices: readonly SelectChoice[] },
): Html {
  const { name, choices } = options;
  const chosen = state.values[name] ?? "";
  return field(
    state,
    options,
    (value) => html`<bdi>${choices.find(([known]) => known === value)?.[1] ?? value}</bdi>`,
    (aria) => html`<select id="${id(name)}" name="${name}" ${aria}
    ${options.attributes}>${selectOptions(choices, chosen)}</select>`,
  );
}

export function checkbox(state: FormState, options: FieldOptions): Html {
  const { name, label, visibleWhen } = options;
  const annotations = annotationsOf(state, options, (value) => (isTicked(value) ? "ticked" : "not ticked"));
  return html`<div class="field check ${visibleWhen && `only-${visibleWhen}`} ${isWrong(annotations) && "wrong"}">
    <input id="${id(name)}" name="${name}" type="checkbox" value="on" ${isTicked(state.values[name]) && html`checked`}
      ${describedBy(annotations)} ${options.attributes}>
    <label for="${id(name)}">${label}</label>
    ${annotations.map(annotationLine)}
  </div>`;
}

/** A hidden field with the version of the record: a save compares it to detect that another user saved the record. */
export function formVersionField({ values }: FormState): Html {
  return html`<input type="hidden" name="opened" value="${values.opened}">`;
}

/** The record that a form edits. */
interface EditedRecord {
  /** Labels by field name. */
  readonly labels: Readonly<Record<string, string>>;
  /** The page of the saved record. */
  readonly path: string;
}

/** Lists all problems above the form, each with a link to its field, or shows the conflict with another user's save. */
export function problemSummary(state: FormState, record?: EditedRecord): Html | undefined {
  const { newerValues, kept = [] } = state;
  const labelOf = (name: string) => record?.labels[name] ?? name;
  const problems = newerValues
    ? Object.keys(newerValues).map((name) => [name, labelOf(name)] as const)
    : Object.entries(state.problems);
  if (problems.length === 0) return undefined;
  return html`<div class="problems" role="alert" tabindex="-1" data-focus>
    <p><strong>Not saved.</strong> ${newerValues ? "Another user changed the same fields since you opened this:" : "Correct these fields:"}</p>
    <ul>${problems.map(([name, message]) => html`<li><a href="#${id(name)}">${message}</a></li>`)}</ul>
    ${kept.length > 0 && html`<p>Platen kept another user’s changes in: ${kept.map(labelOf).join(", ")}.</p>`}
    ${newerValues && html`<p class="actions"><button>Save my version</button> <a href="${record?.path}">Discard my changes</a></p>`}
  </div>`;
}

/** @param display formats a saved value for users. @param control the input, with these ARIA attributes */
function field(
  state: FormState,
  options: FieldOptions,
  display: (value: string) => Html,
  control: (aria: Html) => Html,
): Html {
  const { name, label, required, visibleWhen } = options;
  const annotations = annotationsOf(state, options, (value) => (value === "" ? "empty" : display(value)));
  const aria = html`${describedBy(annotations)} ${state.problems[name] && html`aria-invalid="true"`}`;
  return html`<div class="field ${visibleWhen && `only-${visibleWhen}`} ${isWrong(annotations) && "wrong"}">
    <label for="${id(name)}">${label}${required && html` <span class="needed">required</span>`}</label>
    ${annotations.map(annotationLine)}
    ${control(aria)}
  </div>`;
}

/** A hint or problem between a field's label and its control. */
interface Annotation {
  readonly id: string;
  readonly kind: "hint" | "problem";
  readonly text: Hole;
}

function annotationsOf(
  state: FormState,
  { name, hint }: FieldOptions,
  display: (value: string) => Hole,
): Annotation[] {
  const problem = state.problems[name];
  const newerValue = newerValueText(state, name, display);
  const annotations: Annotation[] = [];
  if (hint) annotations.push({ id: `${id(name)}-hint`, kind: "hint", text: hint });
  if (problem !== undefined) annotations.push({ id: `${id(name)}-problem`, kind: "problem", text: problem });
  if (newerValue !== undefined)
    annotations.push({ id: `${id(name)}-now`, kind: "problem", text: newerValue });
  return annotations;
}

/** The value that another user saved in a field; undefined where it equals the sent one. */
export function newerValueText(
  { newerValues = {} }: FormState,
  name: string,
  display: (value: string) => Hole,
): Html | undefined {
  const value = newerValues[name];
  return value === undefined ? undefined : html`Saved meanwhile: ${display(value)}`;
}

function isWrong(annotations: readonly Annotation[]): boolean {
  return annotations.some(({ kind }) => kind === "problem");
}

function describedBy(annotations: readonly Annotation[]): Html {
  return html`${annotations.length > 0 && html`aria-describedby="${annotations.map((annotation) => annotation.id).join(" ")}"`}`;
}

function annotationLine({ id, kind, text }: Annotation): Html {
  return html`<p class="${kind}" id="${id}">${text}</p>`;
}

function id(name: string): string {
  return `f-${name}`;
}
