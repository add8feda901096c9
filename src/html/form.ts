import type { FieldMessages } from "../domain/errors.ts";
import { type FormInput, isTicked } from "../domain/fields.ts";
import { type Hole, type Html, html } from "./html.ts";

/** What a form shows: the values, and a message beside each field that was refused. */
export interface FormState {
  readonly values: FormInput;
  readonly problems: FieldMessages;
}

export const emptyForm: FormState = { values: {}, problems: {} };

interface FieldOptions {
  readonly label: string;
  readonly name: string;
  readonly hint?: Hole;
  readonly required?: boolean;
  readonly attributes?: Html;
}

/** A text field with its label, hint and message. */
export function textField(state: FormState, options: FieldOptions & { readonly type?: string }): Html {
  const { name, type = "text" } = options;
  return field(
    state,
    options,
    (described) => html`<input id="${id(name)}" name="${name}" type="${type}"
    value="${state.values[name]}" ${options.required && html`required`} ${described} ${options.attributes}>`,
  );
}

export function textArea(state: FormState, options: FieldOptions): Html {
  const { name } = options;
  return field(
    state,
    options,
    (described) => html`<textarea id="${id(name)}" name="${name}" rows="3"
    ${described} ${options.attributes}>${state.values[name]}</textarea>`,
  );
}

/** @param options.choices values with their labels */
export function selectField(
  state: FormState,
  options: FieldOptions & { readonly choices: readonly (readonly [value: string, label: string])[] },
): Html {
  const { name, choices } = options;
  const chosen = state.values[name] ?? "";
  const items = choices.map(
    ([value, label]) =>
      html`<option value="${value}" ${value === chosen && html`selected`}>${label}</option>`,
  );
  return field(
    state,
    options,
    (described) => html`<select id="${id(name)}" name="${name}" ${described}
    ${options.attributes}>${items}</select>`,
  );
}

export function checkbox(state: FormState, options: FieldOptions): Html {
  const { name, label, hint } = options;
  return html`<div class="field check">
    <input id="${id(name)}" name="${name}" type="checkbox" value="on" ${isTicked(state.values[name]) && html`checked`}
      ${hint && html`aria-describedby="${id(name)}-hint"`}>
    <label for="${id(name)}">${label}</label>
    ${hint && html`<p class="hint" id="${id(name)}-hint">${hint}</p>`}
  </div>`;
}

/** The list of everything that was refused, on top of the form, each linked to its field. */
export function problemSummary(state: FormState): Html | undefined {
  const problems = Object.entries(state.problems);
  if (problems.length === 0) return undefined;
  return html`<div class="problems" role="alert" tabindex="-1" data-focus>
    <p><strong>Not saved.</strong> Fix:</p>
    <ul>${problems.map(([name, message]) => html`<li><a href="#${id(name)}">${message}</a></li>`)}</ul>
  </div>`;
}

/** A button behind one fold, so that nothing is deleted by a slip; it works without scripts. */
export function deleteFold(options: {
  readonly what: string;
  readonly consequence: string;
  readonly action: string;
  readonly attributes?: Html;
}): Html {
  return html`<details class="delete"><summary>Delete<span class="visually-hidden"> ${options.what}</span>…</summary>
    <form method="post" action="${options.action}" ${options.attributes}>
      <p>${options.consequence}</p>
      <button class="danger">Delete ${options.what}</button>
    </form></details>`;
}

function field(state: FormState, options: FieldOptions, control: (described: Html) => Html): Html {
  const { name, label, hint, required } = options;
  const problem = state.problems[name];
  const ids = [hint && `${id(name)}-hint`, problem && `${id(name)}-problem`].filter(Boolean).join(" ");
  const described = html`${ids !== "" && html`aria-describedby="${ids}"`} ${problem && html`aria-invalid="true"`}`;
  return html`<div class="field ${problem && "wrong"}">
    <label for="${id(name)}">${label}${required && html` <span class="needed">needed</span>`}</label>
    ${hint && html`<p class="hint" id="${id(name)}-hint">${hint}</p>`}
    ${problem && html`<p class="problem" id="${id(name)}-problem">${problem}</p>`}
    ${control(described)}
  </div>`;
}

function id(name: string): string {
  return `f-${name}`;
}
