import { type Account, accountRoles, isOneTimePasswordExpired } from "../../domain/access/account.ts";
import { deleteFold, type FormState, problemSummary, selectField, textField } from "../form.ts";
import { type Html, html } from "../html.ts";
import { badge, copyable, type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { time } from "../text.ts";

/** A password that was just made. Platen shows it only once. */
export interface OneTimePassword {
  readonly name: string;
  readonly password: string;
}

interface AccountList {
  readonly accounts: readonly Account[];
  /** Whether people sign in at Platen with passwords, and not at a proxy only. */
  readonly hasPasswords: boolean;
  /** Whether people can sign in at a proxy. */
  readonly hasProxy: boolean;
  readonly now: number;
}

const roleChoices = accountRoles.map((role) => [role, role] as const);

const roleHint =
  "A viewer looks and downloads. An operator also changes everything but accounts, tokens, backups and the audit log.";

export function accountsPage(
  frame: PageContext,
  data: AccountList & { readonly form: FormState; readonly made?: OneTimePassword | undefined },
): Html {
  const { form, made, hasPasswords, hasProxy } = data;
  return page(
    { ...frame, title: "Accounts", section: "Accounts" },
    html`${made && oneTimeNotice(made)}
    ${hasProxy && aboutProxy(hasPasswords)}
    <div class="beside">${accountForm(form, hasPasswords)}<section aria-label="Accounts">${accountTable(data)}</section></div>`,
  );
}

/** What accounts are for where people sign in at a proxy. */
function aboutProxy(hasPasswords: boolean): Html {
  const where = hasPasswords ? "People sign in here, or at the proxy" : "People sign in at the proxy";
  return html`<p>${where} in front of Platen. The account of somebody’s name decides here what they may do,
    before any of their groups; whoever has none has the role of their groups (<code>REMOTE_GROUPS</code>).</p>`;
}

function accountForm(form: FormState, hasPasswords: boolean): Html {
  return html`<form class="panel" method="post" action="${paths.accounts}" novalidate>
    <h2>New account</h2>${problemSummary(form)}
    ${textField(form, {
      label: "Name",
      name: "name",
      required: true,
      hint: "Letters from a to z, digits and . _ - @, beginning with a letter or digit.",
      attributes: html`autocomplete="off" autocapitalize="none" spellcheck="false"`,
    })}
    ${selectField(form, { label: "Role", name: "role", choices: roleChoices, hint: roleHint })}
    <p class="hint">${
      hasPasswords
        ? "Platen makes a password for the first sign-in, and shows it once."
        : "The name is the one that the proxy gives. There is no password: nobody signs in here."
    }</p>
    <button class="primary">Make account</button></form>`;
}

/** Shows a one-time password, of which only the hash is saved. */
function oneTimeNotice({ name, password }: OneTimePassword): Html {
  return html`<div class="notice good" role="status" tabindex="-1" data-focus>
    <p>Give this password to <bdi>${name}</bdi>: it is shown this once, holds for seven days, and has to be changed at the first sign-in.</p>
    ${copyable("One-time password", password, "one-time-password")}</div>`;
}

function accountTable({ accounts, hasPasswords, now }: AccountList): Html {
  if (accounts.length === 0) return html`<p>No accounts: everybody has the role of their groups.</p>`;
  const rows = accounts.map(
    (account) => html`<tr>
      <td data-label="Name"><bdi><a href="${paths.accountOf(account.id)}">${account.name}</a></bdi></td>
      <td data-label="Role">${account.role}</td>
      <td data-label="State">${hasPasswords ? stateOf(account, now) : accessOf(account)}</td>
      <td data-label="Last seen" class="whole">${account.seen_at > 0 ? time(account.seen_at) : "never"}</td></tr>`,
  );
  return html`<table><thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">State</th>
    <th scope="col">Last seen</th></tr></thead><tbody>${rows}</tbody></table>`;
}

function stateOf(account: Account, now: number): Html {
  if (account.isDisabled || !account.hasOneTimePassword) return accessOf(account);
  return isOneTimePasswordExpired(account, now)
    ? badge("warn", "one-time password is over")
    : badge("plain", "one-time password");
}

function accessOf({ isDisabled }: Account): Html {
  return isDisabled ? badge("bad", "disabled") : badge("good", "active");
}

/** The page of one account, for the administrator. */
export function accountOfPage(
  frame: PageContext,
  {
    account,
    hasPasswords,
    now,
    made,
  }: {
    readonly account: Account;
    readonly hasPasswords: boolean;
    readonly now: number;
    readonly made?: OneTimePassword | undefined;
  },
): Html {
  const { id, name, role, created_at, seen_at } = account;
  const lastSeen = seen_at > 0 ? html`last seen ${time(seen_at)}` : "never seen";
  return page(
    { ...frame, title: name, heading: html`<bdi>${name}</bdi>`, section: "Accounts" },
    html`${made && oneTimeNotice(made)}
    <p class="soft">${role}, ${hasPasswords ? stateOf(account, now) : accessOf(account)}, since ${time(created_at)}, ${lastSeen}</p>
    ${role === "admin" ? aboutAdmin(hasPasswords) : html`${changeForms(account, hasPasswords)}${deleteFold({ what: "account", consequence: `“${name}” is signed out at once. What the account did stays in the log.`, action: paths.accountDelete(id) })}`}`,
  );
}

function aboutAdmin(hasPasswords: boolean): Html {
  if (!hasPasswords)
    return html`<p>Without the setting <code>ADMIN_PASSWORD</code> this account is nobody’s and decides nothing.</p>`;
  return html`<p>The administrator’s password is the setting <code>ADMIN_PASSWORD</code> or the file of <code>ADMIN_PASSWORD_FILE</code>.
    It is changed there alone: start Platen again, and every browser that was signed in as the administrator is signed out.</p>`;
}

function changeForms({ id, role, isDisabled }: Account, hasPasswords: boolean): Html {
  return html`<section><h2>Role</h2><form class="panel narrow" method="post" action="${paths.accountOf(id)}">
      ${selectField({ values: { role }, problems: {} }, { label: "Role", name: "role", choices: roleChoices, hint: roleHint })}
      <button class="primary">Save role</button></form></section>
    <section><h2>Password</h2>${
      hasPasswords
        ? html`<form method="post" action="${paths.accountReset(id)}">
      <p>A new one-time password ends the one there is, and all sessions. Links that the account made stay: a printer’s page ends those to it.</p>
      <p class="actions"><button>Make a one-time password</button></p></form>`
        : html`<p>None is asked for: people sign in at the proxy in front of Platen. With the setting <code>ADMIN_PASSWORD</code> they could also sign in here.</p>`
    }</section>
    <section><h2>Access</h2>${
      isDisabled
        ? html`<form method="post" action="${paths.accountEnable(id)}"><p>The account is let in neither here nor by a proxy.</p>
          <p class="actions"><button>Enable</button></p></form>`
        : html`<form method="post" action="${paths.accountDisable(id)}"><p>A disabled account is signed out at once, and let in neither here nor by a proxy; links that it made hold no more until it is enabled again.</p>
          <p class="actions"><button>Disable</button></p></form>`
    }</section>`;
}
