import { linkDays } from "../../domain/access/link.ts";
import { failureOf, refusalOf } from "../../domain/deploy/deployment-choice.ts";
import type {
  FieldSection,
  ListedFormat,
  PackageField,
  Snippet,
  ToolGuide,
} from "../../domain/deploy/package-format.ts";
import type { Stated } from "../../domain/printers/listings.ts";
import { counted } from "../../domain/text.ts";
import { selectOptions } from "../form.ts";
import { type Html, html } from "../html.ts";
import { copyable, type Frame, type Link, page } from "../layout.ts";
import { findingsNotice } from "../state-badge.ts";
import { time } from "../text.ts";
import { type OfferedPublish, publishFold, publishLink } from "./publish.ts";

/** A kind of package with what is filled in and pasted for this printer or client. */
interface OfferedFormat extends ListedFormat {
  readonly path: string;
  readonly fileName: string;
  readonly sections: readonly FieldSection[];
  readonly snippets: readonly Snippet[];
  readonly tools: readonly ToolGuide[];
  /** The same without its drivers; undefined where it has none that could come apart. */
  readonly apart: OfferedApart | undefined;
  /** A script that does by itself what the sections have filled in by hand; undefined where there is none. */
  readonly publish: OfferedPublish | undefined;
}

/** A package of scripts alone, for machines that get the drivers by packages of their own. */
interface OfferedApart extends Pick<OfferedFormat, "path" | "fileName" | "sections" | "snippets"> {
  /** The apps that bring the drivers, each with where it is offered. */
  readonly drivers: readonly { readonly name: string; readonly path: string }[];
}

/** A script that is downloaded by itself. */
export interface OfferedScript {
  readonly kind: string;
  readonly path: string;
  readonly fileName: string;
  /** Where its text is shown. */
  readonly readPath: string;
}

/** Everything that can be downloaded of a printer or a client, and what is to be known of it. */
export interface DeployOffer {
  readonly formats: readonly OfferedFormat[];
  readonly scripts: readonly OfferedScript[];
  /** For somebody at the machine. */
  readonly byHand: readonly Snippet[];
  /** Whether the service's address, as it stands in commands and scripts, leads other machines to themselves. */
  readonly isOwnOnly: boolean;
  /** Links for machines, which cannot sign in; undefined where nobody has to, and for who may make none. */
  readonly links: OfferedLinks | undefined;
}

/** Where links are made, and where all that there are come to an end. */
interface OfferedLinks {
  /** Where a token of the same can be made; undefined where there is none, and for who may make none. */
  readonly tokenPath: string | undefined;
  readonly path: string;
  readonly endPath: string;
  /** So many days a link holds unless another choice is made. */
  readonly days: number;
}

interface DeploySection {
  readonly stated: Stated;
  /** Undefined where nothing can be downloaded. */
  readonly offer: DeployOffer | undefined;
  /** What stands for the app's logo. */
  readonly logo: Html;
  /** What to do about the worst finding. */
  readonly remedy: Link | undefined;
  /** What was downloaded before, and whether that is still what would be downloaded now. */
  readonly downloaded?: Html | undefined;
}

/**
 * What is wrong, then what can be downloaded. What is known to fail is not offered plainly; what would be refused is
 * not offered at all.
 */
export function deploySection({ stated, offer, logo, remedy, downloaded }: DeploySection): Html {
  const isRefused = offer === undefined || refusalOf(stated) !== undefined;
  const fails = !isRefused && failureOf(stated) !== undefined;
  const style = stated.state === "blocked" && html`class="button primary"`;
  return html`<section class="deploy" id="deploy"><h2>Deploy</h2>
    ${findingsNotice(stated)}
    ${remedy && html`<p><a ${style} href="${remedy.path}">${remedy.label}</a></p>`}
    ${downloaded}
    ${!isRefused && (fails ? allTheSame(deployTabs(offer, logo)) : deployTabs(offer, logo))}</section>`;
}

/** Downloads that are known to fail. */
export function allTheSame(body: Html): Html {
  return html`<details class="more"><summary>Download all the same</summary>${body}</details>`;
}

/**
 * A tab for each kind of package, and one for scripts that are run by hand.
 * @param logo what stands for the app's logo
 */
export function deployTabs(offer: DeployOffer, logo: Html): Html {
  return html`<div class="tabs">
      ${offer.formats.map((format, i) => tab(format.id, format.target, formatPane(format, offer, logo), i === 0))}
      ${tab("hand", "By hand", handPane(offer))}
    </div>${offer.links && linkFold(offer, offer.links)}`;
}

function tab(id: string, label: string, body: Html, isFirst = false): Html {
  return html`<input type="radio" name="deploy" id="tab-${id}" ${isFirst && html`checked`}>
    <label for="tab-${id}">${label}</label><div class="tab" id="pane-${id}">${body}</div>`;
}

function formatPane(format: OfferedFormat, offer: DeployOffer, logo: Html): Html {
  const { id, path, fileType, fileName, guide, sections, snippets, tools } = format;
  const hasRule = sections.some(({ fields }) => fields.some(({ name }) => name === "requirement_script"));
  const asked = offer.scripts.filter(({ kind }) => kind === "detect" || (hasRule && kind === "requirement"));
  const links = asked.map(
    (script) => html`<li><a class="button" href="${script.path}">Download ${script.kind}.ps1</a></li>`,
  );
  return html`<ul class="actions">
      <li><a class="button primary" href="${path}">Download ${fileType}</a></li>${links}
      <li class="file-name"><code>${fileName}</code></li>
    </ul><p class="hint">${guide}${format.publish && publishLink}</p>
    ${sections.map((section, i) => fieldGroup(`${id}-${i}`, section, logo))}
    ${snippets.length > 0 && ownOnlyNote(offer)}
    ${snippets.map((snippet, i) => snippetBlock(`${id}-snippet-${i}`, snippet))}
    ${tools.length > 0 && html`<h3>What counts in your tool</h3>`}
    ${tools.map((tool, i) => toolGuide(`${id}-tool-${i}`, tool))}
    ${format.publish && publishFold(format.publish)}
    ${format.apart && apartFold(format, format.apart, logo)}`;
}

/** Folded: who has one driver for one printer needs none of it. */
function apartFold({ id, fileType }: OfferedFormat, apart: OfferedApart, logo: Html): Html {
  const { path, fileName, drivers, sections, snippets } = apart;
  const what = drivers.length === 1 ? "the driver" : "the drivers";
  const apps = drivers.map(
    (driver, i) => html`${i > 0 && ", "}<a href="${driver.path}"><bdi>${driver.name}</bdi></a>`,
  );
  return html`<details class="more apart"><summary>Without ${what}</summary>
    <p>The scripts alone, some 30 KB, for many printers that share a driver: deploy ${what} once, with ${apps}, and each
      printer with a package like this. Its install.ps1 fetches nothing: where a driver is missing it fails (1603) and
      names what to install first. Its uninstall.ps1 leaves ${what}. All other fields stay as they are, and so does the detection script.</p>
    <ul class="actions"><li><a class="button" href="${path}">Download ${fileType} without ${what}</a></li>
      <li class="file-name"><code>${fileName}</code></li></ul>
    ${sections.map((section, i) => fieldGroup(`${id}-apart-${i}`, section, logo))}
    ${snippets.map((snippet, i) => snippetBlock(`${id}-apart-snippet-${i}`, snippet))}</details>`;
}

function fieldGroup(id: string, { title, fields }: FieldSection, logo: Html): Html {
  const rows = fields.map((field, i) => fieldRow(field.name ?? `${id}-${i}`, field, logo));
  return html`<div class="field-group"><h3>${title}</h3><dl class="values">${rows}</dl></div>`;
}

function fieldRow(id: string, { label, value, isCode, hint, name }: PackageField, logo: Html): Html {
  const visible = isCode ? html`<code id="${id}">${value}</code>` : html`<bdi id="${id}">${value}</bdi>`;
  const said =
    name === "logo"
      ? logo
      : html`${value !== "" && visible}${hint && html` <span class="hint">${hint}</span>`}`;
  const button =
    value !== "" &&
    html`<button type="button" class="copy quiet" data-copy="${id}" aria-describedby="${id}-label" hidden>Copy</button>`;
  return html`<div><dt id="${id}-label">${label}</dt><dd>${said}</dd><dd class="copy-cell">${button}</dd></div>`;
}

function snippetBlock(id: string, { label, text, hint }: Snippet): Html {
  if (hint === undefined && !text.includes("\n")) return copyable(label, text, id);
  return html`<div class="snippet">
    <p class="label" id="${id}-label">${label} ${hint && html`<span class="hint">${hint}</span>`}</p>
    <pre id="${id}">${text}</pre>
    <button type="button" class="copy" data-copy="${id}" aria-describedby="${id}-label" hidden>Copy</button>
  </div>`;
}

function toolGuide(id: string, { tool, steps, snippet }: ToolGuide): Html {
  const items = steps.map((step) => html`<li>${step}</li>`);
  return html`<details class="more"><summary>${tool}</summary><ol>${items}</ol>
    ${snippet && snippetBlock(id, snippet)}</details>`;
}

function handPane(offer: DeployOffer): Html {
  const { scripts, byHand } = offer;
  const rows = scripts.map(
    ({ kind, path, fileName, readPath }) => html`<li><a class="button" href="${path}">Download ${kind}.ps1</a>
      <a href="${readPath}">Read it<span class="visually-hidden">: ${fileName}</span></a> <code>${fileName}</code></li>`,
  );
  return html`<ul class="scripts">${rows}</ul>
    <p class="hint">Each works alone: without a <code>driver</code> folder beside it, the install script fetches the driver files
      that it needs from this service and checks them.${scripts.some(({ kind }) => kind === "diagnose") && diagnosis}</p>
    ${ownOnlyNote(offer)}
    ${byHand.map((snippet, i) => snippetBlock(`hand-${i}`, snippet))}`;
}

const diagnosis = html` Where a printer does not print, <code>diagnose.ps1</code> says why as far as that machine can tell,
      and changes nothing.`;

/** What stands for a printer's logo in a portal's form: where to get it, or where to put it. */
export function logoOf(path: string | undefined, elsewhere: Html, attributes?: Html): Html {
  const said =
    path === undefined
      ? html`<span class="hint">${elsewhere}</span>`
      : html`<a href="${path}">Download the logo</a>`;
  return html`<span id="logo-value" ${attributes}>${said}</span>`;
}

/** What a link can lead to, in the order of a page: scripts, packages, these without drivers, and what publishes them. */
export function linkable({ formats, scripts }: Pick<DeployOffer, "formats" | "scripts">): Link[] {
  return [
    ...scripts.map(({ path, fileName }) => ({ path, label: fileName })),
    ...formats.map(({ path, fileName }) => ({ path, label: fileName })),
    ...formats.flatMap(({ apart, publish }) =>
      [apart, publish].flatMap((other) => (other ? [{ path: other.path, label: other.fileName }] : [])),
    ),
  ];
}

/** Where an address that is shown leads other machines to themselves. */
function ownOnlyNote({ isOwnOnly }: { readonly isOwnOnly: boolean }): Html | undefined {
  if (!isOwnOnly) return undefined;
  return html`<p class="notice warn">The address below reaches Platen from this machine alone. Open Platen under the name
    that other machines know, or set <code>PUBLIC_URL</code>, before you copy or download.</p>`;
}

/** Folded: who hands nothing on needs none of it. */
function linkFold(
  offer: Pick<DeployOffer, "formats" | "scripts">,
  { path, endPath, days, tokenPath }: NonNullable<DeployOffer["links"]>,
): Html {
  const targets = linkable(offer).map((target) => [target.path, String(target.label)] as const);
  const choices = linkDays(days).map((count) => [String(count), counted(count, "day")] as const);
  return html`<details class="more links" id="links"><summary>Copy a link</summary>
    <p>For machines and tools, which cannot sign in: whoever has the link gets this one file, and with an install script its driver, until it ends.</p>
    <form method="post" action="${path}" class="panel">
      <div class="field"><label for="link-to">Link to</label>
        <select id="link-to" name="address">${selectOptions(targets, "")}</select></div>
      <div class="field"><label for="link-days">Holds for</label>
        <select id="link-days" name="days">${selectOptions(choices, String(days))}</select></div>
      <button>Make the link</button></form>
    ${tokenPath && html`<p>For an agent that fetches all of this again and again: <a href="${tokenPath}">a token</a>.</p>`}
    <details class="delete"><summary>Make all links to this invalid…</summary>
      <form method="post" action="${endPath}">
        <p>Every link to this that was ever made ends now. Scripts that were downloaded here by themselves have to be fetched
          anew, since they fetch their driver by a link; packages go on working.</p>
        <button class="danger">Make all links invalid</button></form></details></details>`;
}

interface LinkPage {
  /** What it leads to. */
  readonly fileName: string;
  /** UTC, milliseconds since 1970. */
  readonly expires_at: number;
  readonly snippets: readonly Snippet[];
  readonly back: Link;
  readonly place: string;
  /** Whether the link reaches Platen from its own machine alone. */
  readonly isOwnOnly: boolean;
}

/** A link that was just made: it stands on this page alone. */
export function linkPage(frame: Frame, made: LinkPage): Html {
  const { fileName, expires_at, snippets, back, place } = made;
  return page(
    { ...frame, title: "Link", place },
    html`${ownOnlyNote(made)}<p><a href="${back.path}">${back.label}</a></p>
    <p>To <code>${fileName}</code>, until ${time(expires_at)}. Whoever has it gets this file without signing in.</p>
    ${snippets.map(({ label, text, hint }, i) => html`${copyable(label, text, `link-${i}`)}${hint && html`<p class="hint">${hint}</p>`}`)}`,
  );
}
