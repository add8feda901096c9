import { hasRole, type Role } from "../domain/access/access.ts";
import { maxQuery } from "../domain/printers/search.ts";
import { type Hole, type Html, html } from "./html.ts";
import { paths } from "./paths.ts";

interface NavItem {
  readonly label: string;
  readonly path: string;
  /** The lowest role that sees the link. */
  readonly role: Role;
  /** True: hidden where sign-in is off, because the page does not exist there. */
  readonly needsSignIn?: boolean;
}

const navItems: readonly NavItem[] = [
  { label: "Dashboard", path: paths.dashboard, role: "viewer" },
  { label: "Printers", path: paths.printers, role: "viewer" },
  { label: "Clients", path: paths.clients, role: "viewer" },
  { label: "Drivers", path: paths.drivers, role: "viewer" },
  { label: "Packages", path: paths.packages, role: "viewer" },
  { label: "Accounts", path: paths.accounts, role: "admin", needsSignIn: true },
  { label: "Tokens", path: paths.tokens, role: "admin", needsSignIn: true },
  { label: "Backups", path: paths.backups, role: "admin" },
  { label: "Audit log", path: paths.audit, role: "admin" },
  { label: "Help", path: paths.help(), role: "viewer" },
];

interface PageOptions {
  readonly title: string;
  /** The title as markup, for titles that contain a name from outside. */
  readonly heading?: Html;
  /** The label of the current navigation item. */
  readonly section?: string;
  /** The primary action, top right. */
  readonly action?: Hole;
  readonly assets: Assets;
  readonly visitor: Visitor;
  readonly message?: Message | undefined;
  /** The dialog that uploads drivers; undefined on the page with the form itself, and for users who may not upload. */
  readonly uploadDialog?: Html | undefined;
}

/** The part of the options that is the same for every page of a request. */
export type PageContext = Pick<PageOptions, "assets" | "visitor" | "message" | "uploadDialog">;

/** The user who requested a page. */
interface Visitor {
  /** Undefined for users who are not signed in, and where sign-in is off. */
  readonly name?: string | undefined;
  /** Undefined: no access. */
  readonly role?: Role | undefined;
  /** True: the user signed in at Platen's own page and can sign out. False where a proxy names the user. */
  readonly isSignedInHere: boolean;
  /** Whether Platen's own sign-in page is available. */
  readonly canSignIn: boolean;
  /** True: sign-in is off and other machines may reach the service. */
  readonly isOpenToAll: boolean;
}

/** Whether the user sees forms and buttons that change records. */
export function canChange({ role }: Visitor): boolean {
  return hasRole(role, "operator");
}

/** The result of a change, with links to likely next steps. */
export interface Message {
  readonly tone: "good" | "warn" | "bad";
  readonly text: Hole;
  readonly links?: readonly Link[];
  /** Adds a button that undoes a deletion: this one, or the one that `label` names. */
  readonly undo?: { readonly path: string; readonly label?: Html } | undefined;
}

export interface Link {
  readonly label: Hole;
  readonly path: string;
  readonly isNewTab?: boolean;
}

/** URLs of the style sheet, the scripts and the icon. Each contains the digest of its content. */
export interface Assets {
  readonly css: string;
  readonly htmx: string;
  readonly js: string;
  readonly icon: string;
}

const htmxConfig = JSON.stringify({
  includeIndicatorStyles: false,
  allowEval: false,
  historyCacheSize: 0,
  // No delay: new content works and has the focus as soon as it is visible.
  defaultSettleDelay: 0,
  selfRequestsOnly: true,
  // No page has a style attribute, and the Content-Security-Policy would refuse one.
  attributesToSettle: ["class", "width", "height"],
  // htmx shows every response: a refused form replaces the form, other errors go to `#message` (HX-Retarget).
  responseHandling: [
    { code: "204", swap: false },
    { code: "[23]..", swap: true },
    { code: "4(?:01|09|13|22)", swap: true },
    { code: "[45]..", swap: true, error: true },
  ],
});

export function page(options: PageOptions, body: Hole): Html {
  const { title, heading = title, action, assets, visitor, message } = options;
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>${title} · Platen</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="htmx-config" content="${htmxConfig}">
  <link rel="icon" href="${assets.icon}" type="image/svg+xml">
  <link rel="stylesheet" href="${assets.css}">
  <script src="${assets.htmx}" defer></script>
  <script src="${assets.js}" defer></script>
</head>
<body>
  <a class="skip" href="#main">Skip to the content</a>
  <header class="head">
    <a class="brand" href="${paths.dashboard}"><img src="${assets.icon}" alt="" width="28" height="28">Platen</a>
    ${visitor.role && html`${searchField}${navigation(visitor, options.section)}`}
    ${visitor.name !== undefined && userMenu(visitor)}
  </header>
  <main id="main">
    ${messageSlot(message && (canChange(visitor) ? message : { ...message, links: [], undo: undefined }))}
    <div class="top"><h1>${heading}</h1>${action}</div>
    ${body}
  </main>
  ${options.uploadDialog}
  ${visitor.isOpenToAll && signInOffFooter}
</body>
</html>`;
}

function navigation(visitor: Visitor, current: string | undefined): Html {
  const visible = navItems.filter(
    ({ role, needsSignIn }) => hasRole(visitor.role, role) && !(needsSignIn && visitor.name === undefined),
  );
  const links = visible.map(
    ({ label, path }) =>
      html`<li><a href="${path}" ${label === current && html`aria-current="page"`}>${label}</a></li>`,
  );
  return html`<nav aria-label="Main"><ul>${links}</ul></nav>`;
}

/** The user's name and the sign-out button. */
function userMenu({ name, role, isSignedInHere }: Visitor): Html {
  const own =
    role === undefined ? html`<bdi>${name}</bdi>` : html`<a href="${paths.account}"><bdi>${name}</bdi></a>`;
  if (!isSignedInHere) return html`<div class="visitor">${own}</div>`;
  return html`<div class="visitor">${own}<form method="post" action="${paths.signOut}"><button class="link">Sign out</button></form></div>`;
}

/** The text does not say who can reach the service: Platen does not know the network around it. */
const signInOffFooter = html`<footer class="foot">Sign-in is turned off. Anyone who reaches this page can run code as SYSTEM on your PCs.
  <a href="${paths.help("signing-in#turn-sign-in-on")}">Turn on sign-in</a></footer>`;

/** An out-of-band fragment with a message that floats above the page, so that the content does not move. */
export function notify(message: Message | undefined): Html {
  return messageSlot(message, html`class="floating" hx-swap-oob="true"`);
}

/** Every page contains this element, even without a message, so that fragments can replace it. */
function messageSlot(message: Message | undefined, attributes?: Html): Html {
  return html`<div id="message" ${attributes}>${message && messageBox(message)}</div>`;
}

/** `app.js` moves the focus to the message. */
export function messageBox({ tone, text, links = [], undo }: Message): Html {
  const items = links.map((link) => html`<li>${anchor(link)}</li>`);
  if (undo !== undefined) {
    const button = html`<button>${undo.label ?? "Undo"}</button> <span class="soft">possible for ten minutes</span>`;
    items.unshift(html`<li><form class="inline" method="post" action="${undo.path}">${button}</form></li>`);
  }
  return html`<div class="notice ${tone}" role="${tone === "good" ? "status" : "alert"}" tabindex="-1" data-focus>
    <p>${text}</p><ul class="actions">${items}<li data-close hidden><button type="button" class="link">Close<span
    class="visually-hidden"> this message</span></button></li></ul></div>`;
}

export function anchor({ label, path, isNewTab }: Link): Html {
  return html`<a href="${path}"${isNewTab && html` target="_blank" rel="noopener"`}>${label}</a>`;
}

/** Links to pages and sections of the help. They open a new tab, so that a form keeps what was typed. */
export function helpLinks(...links: readonly (readonly [label: string, to: string])[]): Html {
  const items = links.map(
    ([label, to], i) => html`${i > 0 && ", "}${anchor({ label, path: paths.help(to), isNewTab: true })}`,
  );
  return html`<p class="hint">Help: ${items}</p>`;
}

/** Explains an empty list. @param action the first step, unless the page has its button already */
export function emptyState(sentence: Hole, action?: Html): Html {
  return html`<div class="empty"><p>${sentence}</p>${action}</div>`;
}

interface RecordActions {
  readonly kind: "printer" | "client" | "driver" | "account";
  readonly id: number;
  readonly isChangeable: boolean;
  readonly links?: readonly Link[];
  /** Undefined: the record cannot be deleted. */
  readonly deletion?: { readonly consequence: string };
}

/** The actions of a record's page: links, its history for admins, and its deletion, which asks first. */
export function recordActions(
  { visitor }: PageContext,
  { kind, id, isChangeable, links = [], deletion }: RecordActions,
): Html {
  const visible = [
    ...(isChangeable ? links : []),
    ...(hasRole(visitor.role, "admin") ? [{ label: "History", path: paths.auditOf(kind, id) }] : []),
  ];
  return html`${visible.map(({ label, path }) => html`<a class="button" href="${path}">${label}</a>`)}${
    isChangeable &&
    deletion &&
    html`<details class="delete"><summary class="button">Delete…</summary>
      <form class="panel" method="post" action="${paths.recordDelete(kind, id)}"><p>${deletion.consequence}</p>
        <button class="danger">Delete ${kind}</button></form></details>`
  }`;
}

type Tone = "good" | "warn" | "bad" | "plain";

export function badge(tone: Tone, word: string): Html {
  return html`<span class="badge ${tone}">${word}</span>`;
}

/** A text with a button that copies it. @param name the beginning of the element ids */
export function copyable(label: string, text: string, name: string): Html {
  return html`<div class="copyable">
    <span class="label" id="${name}-label">${label}</span>
    <code id="${name}">${text}</code>
    <button type="button" class="copy" data-copy="${name}" aria-describedby="${name}-label" hidden>Copy</button>
  </div>`;
}

/** The search field of every page. Without scripts, Enter opens the search page; with scripts, results appear below it. */
const searchField = html`<form class="find" method="get" action="${paths.search}" role="search">
      <label class="visually-hidden" for="find">Search everything</label>
      <input id="find" type="search" name="q" maxlength="${maxQuery}" autocomplete="off" placeholder="Search" aria-keyshortcuts="/"
        hx-get="${paths.search}" hx-trigger="input changed delay:200ms" hx-sync="this:replace" hx-target="#find-results">
      <kbd aria-hidden="true" title="Press / to search">/</kbd>
      <div id="find-results"></div>
      <p class="visually-hidden" role="status"></p>
    </form>`;

/** The primary button of a list's page, which unfolds the form for a new record below the heading. */
export function creationFold(id: string, label: string, isOpen: boolean, form: Html): Html {
  return html`<details class="fold" id="${id}" ${isOpen && html`open`}><summary class="button primary">${label}</summary>${form}</details>`;
}
