import { passwordLength } from "../../domain/access/password.ts";
import { type FormState, problemSummary, textField } from "../form.ts";
import { type Html, html } from "../html.ts";
import { type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";

interface SignInForm {
  /** The name as typed. */
  readonly name?: string;
  /** The URL to open after the sign-in. */
  readonly next: string;
  /** Why the last attempt failed. */
  readonly problem?: string | undefined;
  /** The service's https address; set if the browser uses another address, where it does not keep the session cookie. */
  readonly rightAddress?: string | undefined;
}

export function signInPage(
  context: PageContext,
  { name = "", next, problem, rightAddress }: SignInForm,
): Html {
  const state = { values: { name }, problems: {} };
  const isNamed = name !== "";
  return page(
    { ...context, title: "Sign in" },
    html`<form class="panel narrow" method="post" action="${paths.signIn}">
      ${problem && html`<div class="problems" role="alert" tabindex="-1" data-focus><p>${problem}</p></div>`}
      ${rightAddress && html`<p class="notice warn">Open <a href="${rightAddress}">${rightAddress}</a> to sign in. Sign-in works only at this address.</p>`}
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

/** Users with a one-time password see only this page until they change it. @param next the URL to open afterwards */
export function firstPasswordPage(context: PageContext, form: FormState, next: string): Html {
  return page(
    { ...context, title: "Choose a password" },
    html`<p>Choose your own password to continue.</p>
    ${passwordForm(paths.firstPassword, form, "One-time password", next)}`,
  );
}

/**
 * The form that changes the user's own password.
 * @param label the label of the field for the current password
 * @param next the URL to open after the change; undefined if the action decides it
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
      hint: `Use at least ${least} characters. Spaces are allowed.`,
    })}
    ${passwordField(form, { label: "New password again", name: "again", autocomplete: "new-password" })}
    ${next !== undefined && html`<input type="hidden" name="next" value="${next}">`}
    <button class="primary">Change password</button>
  </form>`;
}

/** A password field. It is empty even if the form is shown again. */
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
