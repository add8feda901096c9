import { hasRole, type Role } from "../domain/access/access.ts";
import { maxQuery } from "../domain/printers/search.ts";
import { type Hole, type Html, html } from "./html.ts";
import { paths } from "./paths.ts";

interface Place {
  readonly label: string;
  readonly path: string;
  /** Who is shown it. */
  readonly role: Role;
  /** Whether it is for who is known by name alone: the dashboard leads others there, where it is of use to them. */
  readonly isOfSignIn?: boolean;
}

const places: readonly Place[] = [
  { label: "Dashboard", path: paths.dashboard, role: "viewer" },
  { label: "Printers", path: paths.printers, role: "viewer" },
  { label: "Clients", path: paths.clients, role: "viewer" },
  { label: "Drivers", path: paths.drivers, role: "viewer" },
  { label: "Packages", path: paths.packages, role: "viewer" },
  { label: "Accounts", path: paths.accounts, role: "admin", isOfSignIn: true },
  { label: "Tokens", path: paths.tokens, role: "admin", isOfSignIn: true },
  { label: "Backups", path: paths.backups, role: "admin", isOfSignIn: true },
  { label: "Audit log", path: paths.audit, role: "admin", isOfSignIn: true },
];

interface PageOptions {
  readonly title: string;
  /** The title as it stands on the page, where a name from outside is in it. */
  readonly heading?: Html;
  /** The place that is marked in the head. */
  readonly place?: string;
  /** The one primary action, top right. */
  readonly action?: Html | undefined;
  readonly assets: Assets;
  readonly visitor: Visitor;
  readonly message?: Message | undefined;
}

/** What every page is given. */
export type Frame = Pick<PageOptions, "assets" | "visitor" | "message">;

/** Who looks at a page. */
interface Visitor {
  /** Who is signed in; undefined for nobody, and where sign-in is off. */
  readonly name?: string | undefined;
  /** What they may do; undefined for nobody. */
  readonly role?: Role | undefined;
  /** Whether they signed in here, and can sign out; where a proxy says who it is, that is its own matter. */
  readonly isSignedInHere: boolean;
  /** Whether people sign in at Platen's own page, with a password. */
  readonly canSignIn: boolean;
  /** Whether nobody has to sign in, and other machines than this one may reach the service. */
  readonly isOpenToAll: boolean;
}

/** Whether somebody is shown what changes records. */
export function mayChange({ role }: Visitor): boolean {
  return hasRole(role, "operator");
}

/** What became of a change, and what is likely to come next. */
export interface Message {
  readonly tone: "good" | "warn" | "bad";
  readonly text: Hole;
  readonly links?: readonly Link[];
  /** Where a button asks for a deletion to be taken back: of this change, or of another one that it names. */
  readonly undo?: { readonly path: string; readonly label?: Html } | undefined;
}

export interface Link {
  readonly label: Hole;
  readonly path: string;
  /** Whether it opens beside the page, which stays as it is. */
  readonly isNewTab?: boolean;
}

/** Addresses of the style sheet and the scripts, each with the digest of its content. */
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
  // What an answer changes is alive, and has the focus, as soon as it is seen.
  defaultSettleDelay: 0,
  selfRequestsOnly: true,
  // No page has a style attribute, and the Content-Security-Policy would refuse one.
  attributesToSettle: ["class", "width", "height"],
  // Every answer is shown: a refused form in its place, another error in the place for messages (HX-Retarget).
  responseHandling: [
    { code: "204", swap: false },
    { code: "[23]..", swap: true },
    { code: "4(?:01|09|13|22)", swap: true },
    { code: "[45]..", swap: true, error: true },
  ],
});

/** A whole page. */
export function page(options: PageOptions, body: Hole): Html {
  const { title, heading = title, action, assets, visitor } = options;
  const { message } = options;
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
    ${visitor.role && html`${searchField()}${placesOf(visitor, options.place)}`}
    ${visitor.name !== undefined && whoIsHere(visitor)}
  </header>
  <main id="main">
    ${messagePlace(message && (mayChange(visitor) ? message : { ...message, links: [], undo: undefined }))}
    <div class="top"><h1>${heading}</h1>${action}</div>
    ${body}
  </main>
  ${visitor.isOpenToAll && openFoot}
</body>
</html>`;
}

function placesOf(visitor: Visitor, current: string | undefined): Html {
  const visible = places.filter((place) => isShown(place, visitor));
  const links = visible.map(
    ({ label, path }) =>
      html`<li><a href="${path}" ${label === current && html`aria-current="page"`}>${label}</a></li>`,
  );
  return html`<nav aria-label="Places"><ul>${links}</ul></nav>`;
}

function isShown(place: Place, { name, role }: Visitor): boolean {
  if (place.isOfSignIn && name === undefined) return false;
  return hasRole(role, place.role);
}

/** Who is signed in, and the way out. */
function whoIsHere({ name, role, isSignedInHere }: Visitor): Html {
  const own =
    role === undefined ? html`<bdi>${name}</bdi>` : html`<a href="${paths.account}"><bdi>${name}</bdi></a>`;
  if (!isSignedInHere) return html`<div class="visitor">${own}</div>`;
  return html`<div class="visitor">${own}<form method="post" action="${paths.signOut}"><button class="link">Sign out</button></form></div>`;
}

/** It says no more than is known: who can reach the service, its network decides. */
const openFoot = html`<footer class="foot">Sign-in is off: whoever reaches this address can change what runs as SYSTEM on every PC.
  The setting <code>ADMIN_PASSWORD</code> closes it.</footer>`;

/** Puts a message into the page that a fragment goes to: above what is there, without moving it. */
export function notify(message: Message | undefined): Html {
  return messagePlace(message, html`class="floating" hx-swap-oob="true"`);
}

/** Every page has the place, so that a fragment finds it. */
function messagePlace(message: Message | undefined, attributes?: Html): Html {
  return html`<div id="message" ${attributes}>${message && messageBox(message)}</div>`;
}

/** The message itself, which takes the focus. */
export function messageBox({ tone, text, links = [], undo }: Message): Html {
  const items = links.map((link) => html`<li>${anchor(link)}</li>`);
  if (undo !== undefined) {
    const button = html`<button>${undo.label ?? "Undo"}</button>`;
    items.unshift(html`<li><form class="inline" method="post" action="${undo.path}">${button}</form></li>`);
  }
  return html`<div class="notice ${tone}" role="${tone === "good" ? "status" : "alert"}" tabindex="-1" data-focus>
    <p>${text}</p><ul class="actions">${items}<li data-close hidden><button type="button" class="link">Close<span
    class="visually-hidden"> this message</span></button></li></ul></div>`;
}

export function anchor({ label, path, isNewTab }: Link): Html {
  return html`<a href="${path}"${isNewTab && html` target="_blank" rel="noopener"`}>${label}</a>`;
}

/** What an empty place is for, and the way to the first step. */
export function emptyState(sentence: Hole, action: Html): Html {
  return html`<div class="empty"><p>${sentence}</p>${action}</div>`;
}

type Tone = "good" | "warn" | "bad" | "plain";

/** A state as a word. */
export function badge(tone: Tone, word: string): Html {
  return html`<span class="badge ${tone}">${word}</span>`;
}

/** A command with a button that copies it. */
export function copyable(label: string, text: string, name: string): Html {
  return html`<div class="copyable">
    <span class="label" id="${name}-label">${label}</span>
    <code id="${name}">${text}</code>
    <button type="button" class="copy" data-copy="${name}" aria-describedby="${name}-label" hidden>Copy</button>
  </div>`;
}

/** The field in every page's head: without scripts the Enter key goes to the page, with them results come below it. */
function searchField(): Html {
  return html`<form class="find" method="get" action="${paths.search}" role="search">
      <label class="visually-hidden" for="find">Search everything</label>
      <input id="find" type="search" name="q" maxlength="${maxQuery}" autocomplete="off" placeholder="Search" aria-keyshortcuts="/"
        hx-get="${paths.search}" hx-trigger="input changed delay:200ms" hx-sync="this:replace" hx-target="#find-results">
      <kbd aria-hidden="true" title="The key / leads here">/</kbd>
      <div id="find-results"></div>
      <p class="visually-hidden" role="status"></p>
    </form>`;
}

/** What an operator should know before something is deployed: what is certain, and what nobody here has seen. */
export interface Note {
  readonly title: string;
  readonly known: readonly string[];
  /** What no test without a Windows machine can show. */
  readonly unseen: readonly string[];
}

export function noteBlock({ title, known, unseen }: Note): Html {
  return html`<details class="more notes"><summary>What to know about this: ${title}</summary>
    <ul>${known.map((line) => html`<li>${line}</li>`)}</ul>
    <p>Not seen on a real Windows by us:</p><ul>${unseen.map((line) => html`<li>${line}</li>`)}</ul></details>`;
}
