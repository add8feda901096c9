import type { Account, Session } from "../../domain/access/account.ts";
import type { FormState } from "../form.ts";
import { type Html, html } from "../html.ts";
import { type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { time } from "../text.ts";
import { passwordForm } from "./sign-in.ts";

interface OwnAccount {
  readonly account: Account;
  readonly sessions: readonly Session[];
  /** The id of this browser's session. */
  readonly current: number;
  readonly form: FormState;
}

/** The page of the user's own account. @param own undefined for users who sign in at a proxy */
export function accountPage(context: PageContext, own: OwnAccount | undefined): Html {
  const { name, role } = context.visitor;
  const heading = html`<bdi>${name}</bdi>`;
  const roleLine = html`<p class="soft">Role: ${role}</p>`;
  const title = name ?? "Account";
  if (own === undefined) {
    return page(
      { ...context, title, heading },
      html`${roleLine}<p>You sign in at your organization’s proxy. Your Platen account sets your role.
        Without one, your groups do.</p>`,
    );
  }
  return page(
    { ...context, title, heading },
    html`${roleLine}
    ${own.account.issuer === "" && passwordSection(own)}
    <section id="sessions"><h2>Active sessions</h2>${sessionTable(own)}</section>`,
  );
}

function passwordSection({ account, form }: OwnAccount): Html {
  return html`<section id="password"><h2>Password</h2>${
    account.role === "admin"
      ? html`<p>Change this password in <code>ADMIN_PASSWORD</code> or <code>ADMIN_PASSWORD_FILE</code>. Then restart Platen.</p>`
      : html`<p>A new password signs out your other browsers.</p>${passwordForm(paths.accountPassword, form, "Current password")}`
  }</section>`;
}

function sessionTable({ sessions, current }: OwnAccount): Html {
  const rows = sessions.map(
    ({ id, browser, address, created_at, seen_at }) => html`<tr>
      <td data-label="Browser">${browser}</td>
      <td data-label="IP address"><bdi>${address}</bdi></td>
      <td data-label="Signed in" class="whole">${time(created_at)}</td>
      <td data-label="Last used" class="whole">${time(seen_at)}</td>
      <td>${
        id === current
          ? "This browser"
          : html`<form class="inline" method="post" action="${paths.endSession(id)}"><button>Sign out<span
            class="visually-hidden"> ${browser} from ${address}</span></button></form>`
      }</td></tr>`,
  );
  return html`<table><thead><tr><th scope="col">Browser</th><th scope="col">IP address</th><th scope="col">Signed in</th>
    <th scope="col">Last used</th><th scope="col"><span class="visually-hidden">Sign out</span></th></tr></thead><tbody>${rows}</tbody></table>
    ${
      sessions.length > 1 &&
      html`<form method="post" action="${paths.endOtherSessions}"><p class="actions"><button>Sign out everywhere else</button></p></form>`
    }`;
}
