import { type Account, accountRoles, isOneTimeOver } from "../domain/account.ts";
import { deleteFold, type FormState, problemSummary, selectField, textField } from "./form.ts";
import { type Html, html } from "./html.ts";
import { badge, copyable, type Frame, page } from "./layout.ts";
import { paths } from "./paths.ts";
import { time } from "./text.ts";

/** An account as lists show it. */
interface ListedAccount {
  readonly account: Account;
  readonly seenAt: number;
}

/** A password that was just made, which is shown this once. */
export interface OneTimePassword {
  readonly name: string;
  readonly password: string;
}

const roleChoices = accountRoles.map((role) => {
  const may = {
    viewer: "viewer: looks and downloads",
    operator: "operator: changes everything but accounts",
  };
  return [role, may[role]] as const;
});

export function accountsPage(
  frame: Frame,
  data: {
    readonly accounts: readonly ListedAccount[];
    readonly now: number;
    readonly form: FormState;
    readonly made?: OneTimePassword | undefined;
  },
): Html {
  const { accounts, now, form, made } = data;
  return page(
    { ...frame, title: "Accounts", place: "Accounts" },
    html`${made && oneTimeNotice(made)}
    <div class="beside">${accountForm(form)}<section aria-label="Accounts">${accountTable(accounts, now)}</section></div>`,
  );
}

function accountForm(form: FormState): Html {
  return html`<form class="panel" method="post" action="${paths.accounts}" novalidate>
    <h2>New account</h2>${problemSummary(form)}
    ${textField(form, {
      label: "Name",
      name: "name",
      required: true,
      attributes: html`autocomplete="off" autocapitalize="none" spellcheck="false"`,
    })}
    ${selectField(form, { label: "Role", name: "role", choices: roleChoices })}
    <p class="hint">Platen makes a password for the first sign-in, and shows it once.</p>
    <button class="primary">Make account</button></form>`;
}

/** The one time that it is shown: it is kept nowhere. */
function oneTimeNotice({ name, password }: OneTimePassword): Html {
  return html`<div class="notice good" role="status" tabindex="-1" data-focus>
    <p>Give this password to <bdi>${name}</bdi>: it is shown this once, holds for seven days, and has to be changed at the first sign-in.</p>
    ${copyable("One-time password", password, "one-time-password")}</div>`;
}

function accountTable(accounts: readonly ListedAccount[], now: number): Html {
  const rows = accounts.map(
    ({ account, seenAt }) => html`<tr>
      <td data-label="Name"><bdi><a href="${paths.accountOf(account.id)}">${account.name}</a></bdi></td>
      <td data-label="Role">${account.role}</td>
      <td data-label="State">${stateOf(account, now)}</td>
      <td data-label="Last seen" class="whole">${seenAt > 0 ? time(seenAt) : "never"}</td></tr>`,
  );
  return html`<table><thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">State</th>
    <th scope="col">Last seen</th></tr></thead><tbody>${rows}</tbody></table>`;
}

function stateOf(account: Account, now: number): Html {
  if (account.isDisabled) return badge("bad", "disabled");
  if (isOneTimeOver(account, now)) return badge("warn", "one-time password is over");
  return account.isOneTime ? badge("plain", "one-time password") : badge("good", "active");
}

/** One account with all that can be done to it. */
export function accountOfPage(
  frame: Frame,
  {
    account,
    seenAt,
    now,
    made,
  }: ListedAccount & { readonly now: number; readonly made?: OneTimePassword | undefined },
): Html {
  const { id, name, role, created_at } = account;
  return page(
    { ...frame, title: name, heading: html`<bdi>${name}</bdi>`, place: "Accounts" },
    html`${made && oneTimeNotice(made)}
    <p class="soft">${role}, ${stateOf(account, now)}, since ${time(created_at)}, ${seenAt > 0 ? html`last seen ${time(seenAt)}` : "never seen"}</p>
    ${role === "admin" ? aboutAdmin() : html`${changes(account)}${deleteFold({ what: "account", consequence: `“${name}” is signed out at once. What the account did stays in the log.`, action: paths.accountDelete(id) })}`}`,
  );
}

function aboutAdmin(): Html {
  return html`<p>The administrator’s password is the setting <code>ADMIN_PASSWORD</code> or the file of <code>ADMIN_PASSWORD_FILE</code>.
    It is changed there alone: start Platen again, and every browser that was signed in as the administrator is signed out.</p>`;
}

function changes({ id, role, isDisabled }: Account): Html {
  return html`<section><h2>Role</h2><form class="panel narrow" method="post" action="${paths.accountOf(id)}">
      ${selectField({ values: { role }, problems: {} }, { label: "Role", name: "role", choices: roleChoices })}
      <button class="primary">Save role</button></form></section>
    <section><h2>Password</h2><form method="post" action="${paths.accountReset(id)}">
      <p>A new one-time password ends the one there is, and all sessions.</p>
      <p class="actions"><button>Make a one-time password</button></p></form></section>
    <section><h2>Access</h2>${
      isDisabled
        ? html`<form method="post" action="${paths.accountEnable(id)}"><p>The account cannot sign in.</p>
          <p class="actions"><button>Enable</button></p></form>`
        : html`<form method="post" action="${paths.accountDisable(id)}"><p>A disabled account is signed out at once and cannot sign in.</p>
          <p class="actions"><button>Disable</button></p></form>`
    }</section>`;
}
