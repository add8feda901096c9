import { passwordLength } from "../../domain/access/password.ts";
import { type FormState, problemSummary, textField } from "../form.ts";
import { type Html, html } from "../html.ts";
import { type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";

export interface SignInForm {
  /** The name as typed. */
  readonly name?: string;
  /** The URL to open after the sign-in. */
  readonly next: string;
  /** Why the last attempt failed. */
  readonly problem?: string | undefined;
  /** The service's https address; set if the browser uses another address, where it does not keep the session cookie. */
  readonly rightAddress?: string | undefined;
  readonly hasPasswords: boolean;
  /** The name of the OpenID Connect provider; undefined without one. */
  readonly provider: string | undefined;
  /** Set after a sign-out: where the user can sign out at the provider, too. */
  readonly signedOut?: { readonly providerUrl: string | undefined } | undefined;
}

export function signInPage(
  context: PageContext,
  { name = "", next, problem, rightAddress, hasPasswords, provider, signedOut }: SignInForm,
): Html {
  const state = { values: { name }, problems: {} };
  const isNamed = name !== "";
  const notices = html`${signedOut && signedOutNotice(signedOut.providerUrl, provider)}
    ${problem && html`<div class="problems" role="alert" tabindex="-1" data-focus><p>${problem}</p></div>`}
    ${rightAddress && html`<p class="notice warn">Open <a href="${rightAddress}">${rightAddress}</a> to sign in. Sign-in works only at this address.</p>`}`;
  const query = next === paths.dashboard ? "" : `?${new URLSearchParams({ next })}`;
  const atProvider =
    provider &&
    html`<p><a class="button primary" href="${paths.oidc}${query}">Sign in with ${provider}</a></p>`;
  if (!hasPasswords)
    return page(
      { ...context, title: "Sign in" },
      html`<div class="panel narrow">${notices}${atProvider}</div>`,
    );
  return page(
    { ...context, title: "Sign in" },
    html`<form class="panel narrow" method="post" action="${paths.signIn}">
      ${notices}
      ${atProvider}
      ${provider && html`<h2>With a password</h2>`}
      ${textField(state, {
        label: "Name",
        name: "name",
        attributes: html`autocomplete="username" autocapitalize="none" spellcheck="false" ${!isNamed && html`autofocus`}`,
      })}
      ${passwordField(state, { label: "Password", name: "password", autocomplete: "current-password", isFirst: isNamed })}
      <input type="hidden" name="next" value="${next}">
      <button ${!provider && html`class="primary"`}>Sign in</button>
    </form>`,
  );
}

function signedOutNotice(providerUrl: string | undefined, provider: string | undefined): Html {
  const link = providerUrl && html` <a href="${providerUrl}">Sign out of ${provider}, too</a>`;
  return html`<p class="notice good" role="status">You are signed out of Platen.${link}</p>`;
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
