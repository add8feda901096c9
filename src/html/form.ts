import { groupsBy } from "../domain/collections.ts";
import type { FieldMessages } from "../domain/errors.ts";
import { type FormInput, isTicked } from "../domain/fields.ts";
import { type Hole, type Html, html } from "./html.ts";

/** What a form shows: the values, and a message beside each field that was refused. */
export interface FormState {
  readonly values: FormInput;
  readonly problems: FieldMessages;
  /** Where somebody else has saved the record since the form was opened: what differs from the values, as it is now. */
  readonly meanwhile?: FormInput;
}

export const emptyForm: FormState = { values: {}, problems: {} };

interface FieldOptions {
  readonly label: string;
  readonly name: string;
  readonly hint?: Hole;
  readonly required?: boolean;
  readonly attributes?: Html;
  /** What another field must be for this one to mean anything; `controls.css` shows it with that alone. */
  readonly only?: Condition;
}

/** The conditions that `controls.css` knows. */
type Condition = "number" | "lpr" | "ipp" | "port" | "snmp" | "shared";

/** A text field with its label, hint and message. */
export function textField(state: FormState, options: FieldOptions & { readonly type?: string }): Html {
  const { name, type = "text" } = options;
  return field(
    state,
    options,
    (value) => html`<bdi>${value}</bdi>`,
    (described) => html`<input id="${id(name)}" name="${name}" type="${type}"
    value="${state.values[name]}" ${options.required && html`required`} ${described} ${options.attributes}>`,
  );
}

export function textArea(state: FormState, options: FieldOptions): Html {
  const { name } = options;
  return field(
    state,
    options,
    (value) => html`<bdi class="lines">${value}</bdi>`,
    (described) => html`<textarea id="${id(name)}" name="${name}" rows="3"
    ${described} ${options.attributes}>${state.values[name]}</textarea>`,
  );
}

/** What can be chosen in a select: those of one group follow each other. */
export type SelectChoice = readonly [value: string, label: string, group?: string];

/** The options of a select, those of a group under its name. */
export function selectOptions(choices: readonly SelectChoice[], chosen: string): Html {
  const option = ([value, label]: SelectChoice) =>
    html`<option value="${value}" ${value === chosen && html`selected`}>${label}</option>`;
  const groups = [...groupsBy(choices, ([, , group = ""]) => group)];
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
    (described) => html`<select id="${id(name)}" name="${name}" ${described}
    ${options.attributes}>${selectOptions(choices, chosen)}</select>`,
  );
}

export function checkbox(state: FormState, options: FieldOptions): Html {
  const { name, label, only } = options;
  const notes = notesOf(state, options, (value) => (isTicked(value) ? "ticked" : "not ticked"));
  return html`<div class="field check ${only && `only-${only}`} ${isWrong(notes) && "wrong"}">
    <input id="${id(name)}" name="${name}" type="checkbox" value="on" ${isTicked(state.values[name]) && html`checked`}
      ${describedBy(notes)} ${options.attributes}>
    <label for="${id(name)}">${label}</label>
    ${notes.map(noteLine)}
  </div>`;
}

/** Sent back with the form, so that a save can tell whether somebody else has saved the record meanwhile. */
export function openedField({ values }: FormState): Html {
  return html`<input type="hidden" name="opened" value="${values.opened}">`;
}

/** What a form that sends what it was opened with says of its record. */
interface Opened {
  /** What the fields are called, by name. */
  readonly labels: Readonly<Record<string, string>>;
  /** Where the record is shown as it is now. */
  readonly path: string;
}

/** The list of everything that was refused, on top of the form, each linked to its field. */
export function problemSummary(state: FormState, opened?: Opened): Html | undefined {
  if (state.meanwhile !== undefined && opened !== undefined) return staleSummary(state.meanwhile, opened);
  const problems = Object.entries(state.problems);
  if (problems.length === 0) return undefined;
  return html`<div class="problems" role="alert" tabindex="-1" data-focus>
    <p><strong>Not saved.</strong> Fix:</p>
    <ul>${problems.map(([name, message]) => html`<li><a href="#${id(name)}">${message}</a></li>`)}</ul>
  </div>`;
}

/** What somebody else has saved, and the choice between that and what was typed. */
function staleSummary(meanwhile: FormInput, { labels, path }: Opened): Html {
  const fields = Object.keys(meanwhile);
  const items = fields.map((name) => html`<li><a href="#${id(name)}">${labels[name] ?? name}</a></li>`);
  return html`<div class="problems" role="alert" tabindex="-1" data-focus>
    <p><strong>Not saved.</strong> Somebody else has saved this since you opened it.</p>
    ${items.length > 0 ? html`<p>What they saved differs from yours here:</p><ul>${items}</ul>` : html`<p>They saved just what you typed.</p>`}
    <p class="actions"><button>Save mine all the same</button> <a href="${path}">Drop mine and show what is saved now</a></p>
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

/** @param visible a value as people know it */
function field(
  state: FormState,
  options: FieldOptions,
  visible: (value: string) => Html,
  control: (described: Html) => Html,
): Html {
  const { name, label, required, only } = options;
  const notes = notesOf(state, options, (value) => (value === "" ? "nothing" : visible(value)));
  const described = html`${describedBy(notes)} ${state.problems[name] && html`aria-invalid="true"`}`;
  return html`<div class="field ${only && `only-${only}`} ${isWrong(notes) && "wrong"}">
    <label for="${id(name)}">${label}${required && html` <span class="needed">needed</span>`}</label>
    ${notes.map(noteLine)}
    ${control(described)}
  </div>`;
}

/** What stands between a field's label and its control. */
interface Note {
  readonly id: string;
  readonly kind: "hint" | "problem";
  readonly text: Hole;
}

function notesOf(state: FormState, { name, hint }: FieldOptions, visible: (value: string) => Hole): Note[] {
  const problem = state.problems[name];
  const meanwhile = savedMeanwhile(state, name, visible);
  const notes: Note[] = [];
  if (hint) notes.push({ id: `${id(name)}-hint`, kind: "hint", text: hint });
  if (problem !== undefined) notes.push({ id: `${id(name)}-problem`, kind: "problem", text: problem });
  if (meanwhile !== undefined) notes.push({ id: `${id(name)}-now`, kind: "problem", text: meanwhile });
  return notes;
}

/** What somebody else has saved in a field; undefined where that is what was sent. */
export function savedMeanwhile(
  { meanwhile = {} }: FormState,
  name: string,
  visible: (value: string) => Hole,
): Html | undefined {
  const value = meanwhile[name];
  return value === undefined ? undefined : html`Saved meanwhile: ${visible(value)}`;
}

function isWrong(notes: readonly Note[]): boolean {
  return notes.some(({ kind }) => kind === "problem");
}

function describedBy(notes: readonly Note[]): Html {
  return html`${notes.length > 0 && html`aria-describedby="${notes.map((note) => note.id).join(" ")}"`}`;
}

function noteLine({ id, kind, text }: Note): Html {
  return html`<p class="${kind}" id="${id}">${text}</p>`;
}

function id(name: string): string {
  return `f-${name}`;
}
