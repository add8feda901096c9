import { passwordLength } from "../../domain/access/password.ts";
import { type FormState, problemSummary, textField } from "../form.ts";
import { type Html, html } from "../html.ts";
import { type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";

interface SignInForm {
  /** The name as typed. */
  readonly name?: string;
  /** The page after the sign-in. */
  readonly next: string;
  /** Why the last attempt failed. */
  readonly problem?: string | undefined;
  /** The service's https address, where the browser uses another one and cannot stay signed in. */
  readonly rightAddress?: string | undefined;
}

export function signInPage(frame: PageContext, { name = "", next, problem, rightAddress }: SignInForm): Html {
  const state = { values: { name }, problems: {} };
  const isNamed = name !== "";
  return page(
    { ...frame, title: "Sign in" },
    html`<form class="panel narrow" method="post" action="${paths.signIn}">
      ${problem && html`<div class="problems" role="alert" tabindex="-1" data-focus><p>${problem}</p></div>`}
      ${rightAddress && html`<p class="notice warn">Sign in at <a href="${rightAddress}">${rightAddress}</a>: only there can the browser be remembered.</p>`}
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

/** The page that changes a one-time password, before any other page. @param next the page after it */
export function firstPasswordPage(frame: PageContext, form: FormState, next: string): Html {
  return page(
    { ...frame, title: "Choose a password" },
    html`<p>You signed in with a password that was made for you. Choose one that only you know; then everything else is open.</p>
    ${passwordForm(paths.firstPassword, form, "One-time password", next)}`,
  );
}

/**
 * The form that changes the user's own password.
 * @param label of the current password's field
 * @param next the page after the change, unless the action decides it
 */
export function passwordForm(action: string, form: FormState, label: string, next?: string): Html {
  const { min: least } = passwordLength;
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

/** A password field, which is always empty at first. */
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
      attributes: html`autocomplete="${autocomplete}" maxlength="${4 * passwordLength.max}" ${isFirst && html`autofocus`}`,
    },
  );
}
