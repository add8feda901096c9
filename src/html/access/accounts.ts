import { type Account, accountRoles, isOneTimePasswordExpired } from "../../domain/access/account.ts";
import { providerName } from "../../domain/access/oidc.ts";
import { type FormState, problemSummary, selectField, textField } from "../form.ts";
import { type Html, html } from "../html.ts";
import { badge, copyable, creationFold, type PageContext, page, recordActions } from "../layout.ts";
import { paths } from "../paths.ts";
import { counted, time } from "../text.ts";

/** A new password. Platen shows it only once. */
export interface OneTimePassword {
  readonly name: string;
  readonly password: string;
}

interface AccountList {
  readonly accounts: readonly Account[];
  /** How many sessions of an account are active. */
  readonly sessionsOf: (id: number) => number;
  /** Whether people can sign in at Platen with a password. */
  readonly hasPasswords: boolean;
  /** Whether people can sign in at a proxy. */
  readonly hasProxy: boolean;
  readonly now: number;
}

const roleChoices = accountRoles.map((role) => [role, role] as const);

const roleHint = "Viewer: view and download. Operator: also upload, change and delete.";

export function accountsPage(
  context: PageContext,
  data: AccountList & { readonly form: FormState; readonly made?: OneTimePassword | undefined },
): Html {
  const { accounts, form, made, hasPasswords, hasProxy } = data;
  const isOpen = accounts.length === 0 || Object.keys(form.problems).length > 0;
  // People of a provider get their account when they first sign in.
  const action =
    (hasPasswords || hasProxy) &&
    creationFold("new-account", "New account", isOpen, accountForm(form, hasPasswords));
  return page(
    { ...context, title: "Accounts", section: "Accounts", action },
    html`${made && oneTimeNotice(made)}
    ${hasProxy && aboutProxy(hasPasswords)}
    <section aria-label="Accounts">${accountTable(data)}</section>`,
  );
}

/** Explains what accounts do if people sign in at a proxy. */
function aboutProxy(hasPasswords: boolean): Html {
  const where = hasPasswords ? "here or at your organization’s proxy" : "at your organization’s proxy";
  return html`<p>Users sign in ${where}. A Platen account sets the user’s role.
    Without one, the user’s groups do (<code>REMOTE_GROUPS</code>).</p>`;
}

function accountForm(form: FormState, hasPasswords: boolean): Html {
  return html`<form class="panel" method="post" action="${paths.accounts}" novalidate>
    ${problemSummary(form)}
    ${textField(form, {
      label: "Name",
      name: "name",
      required: true,
      hint: "Use a–z, digits and . _ - @. Start with a letter or digit.",
      attributes: html`autocomplete="off" autocapitalize="none" spellcheck="false"`,
    })}
    ${selectField(form, { label: "Role", name: "role", choices: roleChoices, hint: roleHint })}
    <p class="hint">${
      hasPasswords
        ? "Platen creates a one-time password and shows it once."
        : "Enter the user name that the proxy sends."
    }</p>
    <button class="primary">Save account</button></form>`;
}

/** Shows a one-time password. Platen saves only its hash. */
function oneTimeNotice({ name, password }: OneTimePassword): Html {
  return html`<div class="notice good" role="status" tabindex="-1" data-focus>
    <p>Copy this password for <bdi>${name}</bdi>. Platen shows it only once. It expires in seven days.</p>
    ${copyable("One-time password", password, "one-time-password")}</div>`;
}

function accountTable({ accounts, sessionsOf, hasPasswords, now }: AccountList): Html {
  if (accounts.length === 0) return html`<p>No accounts. Each user’s groups set the role.</p>`;
  const rows = accounts.map(
    (account) => html`<tr>
      <td><bdi><a href="${paths.accountOf(account.id)}">${account.name}</a></bdi></td>
      <td data-label="Signs in at">${signInOf(account, hasPasswords)}</td>
      <td data-label="Role">${account.role}</td>
      <td class="state">${hasPasswords ? stateOf(account, now) : accessOf(account)}</td>
      <td data-label="Sessions">${sessionsOf(account.id)}</td>
      <td data-label="Last seen" class="whole">${account.seen_at > 0 ? time(account.seen_at) : "never"}</td></tr>`,
  );
  return html`<table><thead><tr><th scope="col">Name</th><th scope="col">Signs in at</th><th scope="col">Role</th>
    <th scope="col">State</th><th scope="col">Sessions</th><th scope="col">Last seen</th></tr></thead><tbody>${rows}</tbody></table>`;
}

/** Where a person signs in. */
function signInOf({ issuer }: Account, hasPasswords: boolean): string {
  if (issuer !== "") return providerName({ issuer: new URL(issuer) });
  return hasPasswords ? "Platen" : "proxy";
}

function stateOf(account: Account, now: number): Html {
  if (account.isDisabled || !account.hasOneTimePassword) return accessOf(account);
  return isOneTimePasswordExpired(account, now)
    ? badge("warn", "One-time password expired")
    : badge("plain", "One-time password");
}

function accessOf({ isDisabled }: Account): Html {
  return isDisabled ? badge("bad", "Disabled") : badge("good", "Active");
}

interface AccountDetails extends Pick<AccountList, "hasPasswords" | "now"> {
  readonly account: Account;
  /** How many of its sessions are active. */
  readonly sessionCount: number;
  readonly made?: OneTimePassword | undefined;
}

/** The page of one account, for the administrator. */
export function accountDetailsPage(
  context: PageContext,
  { account, sessionCount, hasPasswords, now, made }: AccountDetails,
): Html {
  const { id, name, role, issuer, created_at, seen_at } = account;
  const isAdmin = role === "admin" && issuer === "";
  const lastSeen = seen_at > 0 ? html`last seen ${time(seen_at)}` : "never seen";
  const deletion = {
    consequence: "The user is signed out. The user’s links end. The audit log keeps the user’s actions.",
  };
  const action = recordActions(context, {
    kind: "account",
    id,
    isChangeable: true,
    ...(!isAdmin && { deletion }),
  });
  return page(
    { ...context, title: name, heading: html`<bdi>${name}</bdi>`, section: "Accounts", action },
    html`${made && oneTimeNotice(made)}
    <p class="soft">${role}, ${hasPasswords ? stateOf(account, now) : accessOf(account)}, since ${time(created_at)}, ${lastSeen}, ${counted(sessionCount, "session")}</p>
    ${isAdmin ? aboutAdmin(hasPasswords) : issuer === "" ? changeForms(account, hasPasswords) : personForms(account)}`,
  );
}

function aboutAdmin(hasPasswords: boolean): Html {
  if (!hasPasswords)
    return html`<p>This account is not used: <code>ADMIN_PASSWORD_FILE</code> is not set.</p>`;
  return html`<p>Change this password in <code>ADMIN_PASSWORD</code> or <code>ADMIN_PASSWORD_FILE</code>. Then restart Platen.
    This ends all its sessions.</p>`;
}

/** For a person who signs in at a provider. */
function personForms(account: Account): Html {
  return html`<p>The groups at ${signInOf(account, false)} set the role at each sign-in.</p>
    ${accessForms(account)}`;
}

function changeForms(account: Account, hasPasswords: boolean): Html {
  const { id, role } = account;
  return html`<section><h2>Role</h2><form class="panel narrow" method="post" action="${paths.accountOf(id)}">
      ${selectField({ values: { role }, problems: {} }, { label: "Role", name: "role", choices: roleChoices, hint: `${roleHint} Links that the user made as an operator do not work while the user is a viewer.` })}
      <button class="primary">Save role</button></form></section>
    <section><h2>Password</h2>${
      hasPasswords
        ? html`<form method="post" action="${paths.accountReset(id)}">
      <p>A new one-time password signs the user out.</p>
      <p class="actions"><button>Create one-time password</button></p></form>`
        : html`<p>No password. Users sign in at the proxy. <code>ADMIN_PASSWORD_FILE</code> turns passwords on.</p>`
    }</section>
    ${accessForms(account)}`;
}

function accessForms({ id, isDisabled }: Account): Html {
  return html`<section><h2>Sessions</h2><form method="post" action="${paths.accountEndAccess(id)}">
      <p>Sign this user out everywhere, and end the user’s links. The user can sign in again.</p>
      <p class="actions"><button>End sessions and links</button></p></form></section>
    <section><h2>Access</h2>${
      isDisabled
        ? html`<form method="post" action="${paths.accountEnable(id)}"><p>This account is disabled.</p>
          <p class="actions"><button>Enable</button></p></form>`
        : html`<form method="post" action="${paths.accountDisable(id)}"><p>Disabling signs the user out. The account’s links stop until you enable it.</p>
          <p class="actions"><button>Disable</button></p></form>`
    }</section>`;
}
