import { passwordLengths } from "../../domain/access/password.ts";
import { type FormState, problemSummary, textField } from "../form.ts";
import { type Html, html } from "../html.ts";
import { type Frame, page } from "../layout.ts";
import { paths } from "../paths.ts";

interface SignInForm {
  /** What was typed as the name. */
  readonly name?: string;
  /** Where it goes on afterwards. */
  readonly next: string;
  /** Why the last attempt failed. */
  readonly problem?: string | undefined;
  /** The service's own address, where the browser is at another one. */
  readonly elsewhere?: string | undefined;
}

/** The one page that everybody can see. */
export function signInPage(frame: Frame, { name = "", next, problem, elsewhere }: SignInForm): Html {
  const state = { values: { name }, problems: {} };
  const isNamed = name !== "";
  return page(
    { ...frame, title: "Sign in" },
    html`<form class="panel narrow" method="post" action="${paths.signIn}">
      ${problem && html`<div class="problems" role="alert" tabindex="-1" data-focus><p>${problem}</p></div>`}
      ${elsewhere && html`<p class="notice warn">Sign in at <a href="${elsewhere}">${elsewhere}</a>: only there can the browser be remembered.</p>`}
      ${textField(state, {
        label: "Name",
        name: "name",
        attributes: html`autocomplete="username" autocapitalize="none" spellcheck="false" ${!isNamed && html`autofocus`}`,
      })}
      ${passwordField(state, { label: "Password", name: "password", autocomplete: "current-password", isFirst: isNamed })}
      <input type="hidden" name="next" value="${next}">
      <button class="primary">Sign in</button>
    </form>`,
  );
}

/** The page on which a one-time password is changed, before any other. @param next where it goes on afterwards */
export function firstPasswordPage(frame: Frame, form: FormState, next: string): Html {
  return page(
    { ...frame, title: "Choose a password" },
    html`<p>You signed in with a password that was made for you. Choose one that only you know; then everything else is open.</p>
    ${passwordForm(paths.firstPassword, form, "One-time password", next)}`,
  );
}

/**
 * The form that changes one's own password.
 * @param label of the current password
 * @param next where it goes on afterwards, unless the action says so
 */
export function passwordForm(action: string, form: FormState, label: string, next?: string): Html {
  const { least } = passwordLengths;
  return html`<form class="panel narrow" method="post" action="${action}" novalidate>
    ${problemSummary(form)}
    ${passwordField(form, { label, name: "password", autocomplete: "current-password" })}
    ${passwordField(form, {
      label: "New password",
      name: "chosen",
      autocomplete: "new-password",
      hint: `${least} characters or more, any you like: spaces too. A few words are easier to keep in mind than signs.`,
    })}
    ${passwordField(form, { label: "New password again", name: "again", autocomplete: "new-password" })}
    ${next !== undefined && html`<input type="hidden" name="next" value="${next}">`}
    <button class="primary">Change password</button>
  </form>`;
}

/** A field that shows nothing of what is typed, and never gets a value from here. */
function passwordField(
  { problems }: FormState,
  {
    autocomplete,
    isFirst = false,
    ...options
  }: {
    readonly label: string;
    readonly name: string;
    readonly autocomplete: string;
    readonly hint?: string;
    readonly isFirst?: boolean;
  },
): Html {
  return textField(
    { values: {}, problems },
    {
      ...options,
      type: "password",
      attributes: html`autocomplete="${autocomplete}" maxlength="${4 * passwordLengths.max}" ${isFirst && html`autofocus`}`,
    },
  );
}
