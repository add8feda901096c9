import type { ListedLink } from "../../domain/access/link.ts";
import { type Token, tokenDays } from "../../domain/access/token.ts";
import { dayMs } from "../../domain/text.ts";
import { type FormState, problemSummary, type SelectChoice, selectField, textField } from "../form.ts";
import { type Html, html } from "../html.ts";
import { badge, copyable, creationFold, helpLinks, type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { isolated, time } from "../text.ts";
import { linkTable } from "./links.ts";

/** A new token. Platen shows its text only once. */
export interface MadeToken {
  readonly name: string;
  readonly text: string;
}

interface Named {
  readonly id: number;
  readonly name: string;
}

export interface TokenList {
  readonly tokens: readonly { readonly token: Token; readonly scopeText: string }[];
  /** The newest links of all records. */
  readonly links: readonly ListedLink[];
  /** UTC, milliseconds since 1970. */
  readonly now: number;
  readonly clients: readonly Named[];
  readonly printers: readonly (Named & { readonly client: string | undefined })[];
}

export function tokensPage(context: PageContext, list: TokenList, form: FormState, made?: MadeToken): Html {
  const table = list.tokens.length > 0 ? tokenTable(list) : html`<p>No tokens yet.</p>`;
  const isOpen =
    list.tokens.length === 0 || form.values.scope !== "read" || Object.keys(form.problems).length > 0;
  const action = creationFold("new-token", "New token", isOpen, tokenForm(list, form));
  return page(
    { ...context, title: "Tokens", section: "Tokens", action },
    html`${made && madeNotice(made)}
    <p>Scripts and RMM tools sign in with a token. Send it as <code>Authorization: Bearer</code>.</p>${helpLinks(["Tokens and links", "signing-in#tokens"])}
    <section aria-label="Tokens">${table}</section>
    ${list.links.length > 0 && html`<section id="links"><h2>Links</h2>${linkTable(list.links, "tokens")}</section>`}`,
  );
}

/** Adds the client's name, because several clients may have a printer with the same name. */
function withClient({ id, name, client }: TokenList["printers"][number]): Named {
  return { id, name: client === undefined ? name : `${name}, ${client}` };
}

/** Shows a token's text. Platen saves only its digest. */
function madeNotice({ name, text }: MadeToken): Html {
  return html`<div class="notice good" role="status" tabindex="-1" data-focus>
    <p>Token “<bdi>${name}</bdi>” was created. Copy it now. Platen shows it only once.</p>${copyable("Token", text, "token")}</div>`;
}

function tokenForm({ clients, printers }: TokenList, form: FormState): Html {
  const days = tokenDays.map(([count, label]): SelectChoice => [String(count), label]);
  const choicesOf = (kind: string, records: readonly Named[], group: string) =>
    records.map(({ id, name }): SelectChoice => [`${kind}:${id}`, name, group]);
  const choices: SelectChoice[] = [
    ["read", "Read access to everything"],
    ["sign", "Signing scripts with sign.ps1"],
    ["upload", "Uploading drivers with from-pc.ps1"],
    ["metrics", "Reading metrics"],
    ...choicesOf("client", clients, "Downloads of one client"),
    ...choicesOf("printer", printers.map(withClient), "Downloads of one printer"),
  ];
  return html`<form class="panel" method="post" action="${paths.tokens}" novalidate>
    ${problemSummary(form)}
    ${textField(form, {
      label: "Name",
      name: "name",
      required: true,
      hint: "Name the tool that uses it, such as Datto RMM.",
      attributes: html`autocomplete="off"`,
    })}
    ${selectField(form, {
      label: "Access to",
      name: "scope",
      choices,
      hint: "A client or printer includes its scripts, packages and driver files.",
    })}
    ${selectField(form, { label: "Valid for", name: "days", choices: days })}
    <button class="primary">Create token</button></form>`;
}

function tokenTable({ tokens, now }: TokenList): Html {
  const rows = tokens.map(
    ({ token, scopeText }) => html`<tr>
      <td><div><bdi>${token.name}</bdi><br><code>${token.beginning}…</code><br>
        <span class="soft">by <bdi>${token.made_by}</bdi>, ${time(token.created_at)}</span></div></td>
      <td data-label="Access to" class="reach"><div>${isolated(scopeText)}</div></td>
      <td data-label="Valid until"><div>${time(token.expires_at)} ${untilBadge(token, now)}</div></td>
      <td data-label="Last used"><div>${token.used_at === undefined ? "never" : html`${time(token.used_at)}<br><code>${token.used_from}</code>`}</div></td>
      <td><details class="delete"><summary>Revoke<span class="visually-hidden"> ${token.name}</span>…</summary>
        <form method="post" action="${paths.tokenRevoke(token.id)}"><p>Scripts with this token lose access. Its links stop working.</p>
        <button class="danger">Revoke token</button></form></details></td></tr>`,
  );
  return html`<table><thead><tr><th scope="col">Name</th><th scope="col">Access to</th><th scope="col">Valid until</th>
    <th scope="col">Last used</th><th scope="col"><span class="visually-hidden">Revoke</span></th></tr></thead>
    <tbody>${rows}</tbody></table>`;
}

/** The table marks tokens that expire within this time. */
const soonMs = 14 * dayMs;

function untilBadge({ expires_at }: Token, now: number): Html | undefined {
  if (expires_at <= now) return badge("bad", "Expired");
  return expires_at - now < soonMs ? badge("warn", "Expires soon") : undefined;
}
