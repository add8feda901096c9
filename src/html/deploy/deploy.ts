import { type ListedLink, linkDayChoices } from "../../domain/access/link.ts";
import type {
  FieldSection,
  ListedFormat,
  PackageField,
  Snippet,
  ToolGuide,
} from "../../domain/deploy/package-format.ts";
import { counted } from "../../domain/text.ts";
import { linkTable } from "../access/links.ts";
import { selectOptions } from "../form.ts";
import { type Html, html } from "../html.ts";
import { copyable, helpLinks, type Link, type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { time } from "../text.ts";
import { type OfferedPublish, publishCard } from "./publish.ts";

/** The package in one format, with the values for the form of its target (Intune or an RMM tool). */
interface OfferedFormat extends ListedFormat {
  readonly path: string;
  readonly fileName: string;
  readonly sections: readonly FieldSection[];
  readonly snippets: readonly Snippet[];
  readonly tools: readonly ToolGuide[];
  /** The same package without its drivers. Undefined if it contains no uploaded driver. */
  readonly apart: OfferedApart | undefined;
  /** A script that creates the app in the target, instead of the form. Undefined if the format has none. */
  readonly publish: OfferedPublish | undefined;
}

/** A package without drivers, for machines that get the drivers from other packages. */
interface OfferedApart extends Pick<OfferedFormat, "path" | "fileName" | "sections" | "snippets"> {
  /** The apps that install the drivers, with the pages that offer them. */
  readonly drivers: readonly { readonly name: string; readonly path: string }[];
}

export interface OfferedScript {
  readonly kind: string;
  readonly path: string;
  readonly fileName: string;
  readonly readPath: string;
}

export interface DeployOffer {
  readonly formats: readonly OfferedFormat[];
  readonly scripts: readonly OfferedScript[];
  /** Downloads the install script at the machine and runs it. Undefined if machines must sign in. */
  readonly oneLine: Snippet | undefined;
  /** Finds out why the printer does not print. Undefined for drivers. */
  readonly diagnosis: { readonly path: string; readonly command: Snippet } | undefined;
  /** Further commands for a person at the machine. */
  readonly byHand: readonly Snippet[];
  /** Whether the service's address in commands and scripts is a loopback address, which works only on its own machine. */
  readonly isLoopbackOnly: boolean;
  /** The two scripts of a remediation in Intune. Undefined for drivers. */
  readonly remediation: OfferedRemediation | undefined;
  /** The page with commands that check scripts first, and whether this is that page. Undefined if commands use https, or none download. */
  readonly check: { readonly path: string; readonly isShown: boolean } | undefined;
  /** The form for links that work without signing in. Undefined if sign-in is off, and for users who may not make links. */
  readonly links: OfferedLinks | undefined;
}

interface OfferedRemediation {
  readonly detectPath: string;
  /** Of the install script, without uploaded drivers, because a remediation has no files. */
  readonly installPath: string;
  /** Whether the install script leaves out drivers. */
  readonly isApart: boolean;
  /** Whether the printers have subnets, which a remediation does not read. */
  readonly hasSubnets: boolean;
}

interface OfferedLinks {
  /** The page to make a token for these downloads. Undefined for drivers, and for users who may not make tokens. */
  readonly tokenPath: string | undefined;
  readonly path: string;
  readonly endPath: string;
  /** The links of the record, newest first. */
  readonly links: readonly ListedLink[];
  /** The default validity of a link, in days. */
  readonly days: number;
}

/** Folds downloads that are known to fail. */
export function foldedDownloads(body: Html): Html {
  return html`<details class="more"><summary>Download anyway</summary>${body}</details>`;
}

/**
 * A card for each way to deploy, each with one button. The fields and commands are folded under their card.
 * @param logo the value of the field “Logo”
 */
export function deployCards(offer: DeployOffer, logo: Html): Html {
  const { formats, diagnosis, links } = offer;
  const publish = formats.map((format) => format.publish && publishCard(format.publish));
  return html`<div class="cards">${publish}${formats.map((format) => formatCard(format, offer, logo))}</div>
    ${loopbackNote(offer)}${diagnosis && diagnosisLine(diagnosis, offer)}${links && linkFold(offer, links)}`;
}

function formatCard(format: OfferedFormat, offer: DeployOffer, logo: Html): Html {
  const { id, heading, guide, path, fileType, fileName, sections } = format;
  const isForm = sections.length > 0;
  return html`<section class="card" id="card-${id}"><h3>${heading}</h3>
    <p>${guide}</p>
    <p><a class="button" href="${path}">Download ${fileType}</a></p>
    ${isForm ? ruleScripts(format, offer) : oneLine(id, offer)}
    <details class="more"><summary>${isForm ? `Fields for ${format.target}` : "Guides, commands and scripts"}</summary>
      <p class="soft"><code>${fileName}</code></p>
      ${isForm ? helpLinks(["Intune by hand", "intune#by-hand"]) : helpLinks(["RMM tools", "rmm"], ["Exit codes", "rmm#exit-codes"])}
      ${isForm ? fieldGroups(id, sections, logo) : commandsOf(format, offer)}
      ${format.apart && apartFold(format, format.apart, logo)}
      ${isForm && offer.remediation && remediationFold(offer.remediation)}</details></section>`;
}

function oneLine(id: string, { oneLine, check }: DeployOffer): Html | undefined {
  return (
    oneLine && html`${snippetBlock(`${id}-one-line`, oneLine)}${check && checkNote(check, `#card-${id}`)}`
  );
}

const insecure = "Over http, others on the network can change a script that runs as SYSTEM.";

/** @param anchor of the commands on the page */
function checkNote({ path, isShown }: NonNullable<DeployOffer["check"]>, anchor: string): Html {
  if (isShown) {
    return html`<p class="hint">${insecure} Commands on this page run only a script with the right SHA-256.
      After a change in Platen, copy them again.</p>`;
  }
  return html`<p class="hint">${insecure} Use https, or <a href="${path}${anchor}">commands that check the script’s SHA-256</a>.</p>`;
}

/** The scripts that the form of the target asks for. */
function ruleScripts({ sections }: OfferedFormat, { scripts }: DeployOffer): Html {
  const wanted = sections.flatMap(({ fields }) => fields.map(({ elementId }) => elementId));
  const links = scripts
    .filter(
      ({ kind }) => kind === "detect" || (kind === "requirement" && wanted.includes("requirement_script")),
    )
    .map(({ path, kind }) => html`<li><a href="${path}">Download ${kind}.ps1</a></li>`);
  return html`<ul class="actions">${links}</ul>`;
}

function commandsOf({ id, snippets, tools }: OfferedFormat, { scripts, byHand }: DeployOffer): Html {
  const rows = scripts.map(
    ({ kind, path, fileName, readPath }) => html`<li><a class="button" href="${path}">Download ${kind}.ps1</a>
      <a href="${readPath}">View script<span class="visually-hidden">: ${fileName}</span></a> <code>${fileName}</code></li>`,
  );
  return html`${tools.map((tool, i) => toolGuide(`${id}-tool-${i}`, tool, scripts))}
    ${snippets.map((snippet, i) => snippetBlock(`${id}-snippet-${i}`, snippet))}
    <h4>Single scripts</h4>
    <p class="hint">install.ps1 downloads the driver from Platen.</p>
    <ul class="scripts">${rows}</ul>
    ${byHand.map((snippet, i) => snippetBlock(`hand-${i}`, snippet))}`;
}

function diagnosisLine(
  { path, command }: NonNullable<DeployOffer["diagnosis"]>,
  { check }: Pick<DeployOffer, "check">,
): Html {
  return html`<details class="more"><summary>It does not print?</summary>
    <p>Run <code>diagnose.ps1</code> on the PC. It changes nothing. <a href="${path}">Download diagnose.ps1</a></p>
    ${snippetBlock("diagnosis", command)}${check && checkNote(check, "#diagnosis")}${helpLinks(["What each finding means", "diagnosis"])}</details>`;
}

/** Folded, because it is useful only for printers that share a driver. */
function apartFold({ id, fileType }: OfferedFormat, apart: OfferedApart, logo: Html): Html {
  const { path, fileName, drivers, sections, snippets } = apart;
  const what = drivers.length === 1 ? "the driver" : "the drivers";
  const apps = drivers.map(
    (driver, i) => html`${i > 0 && ", "}<a href="${driver.path}"><bdi>${driver.name}</bdi></a>`,
  );
  return html`<details class="more apart"><summary>Without ${what}</summary>
    <p>Deploy ${what} once with ${apps}. Then deploy this small package. Uninstalling keeps ${what}.</p>
    <p><a class="button" href="${path}">Download ${fileType} without ${what}</a> <code>${fileName}</code></p>
    ${sections.length > 0 && fieldGroups(`${id}-apart`, sections, logo)}
    ${snippets.map((snippet, i) => snippetBlock(`${id}-apart-snippet-${i}`, snippet))}</details>`;
}

function remediationFold(remediation: OfferedRemediation): Html {
  const { detectPath, installPath, isApart, hasSubnets } = remediation;
  return html`<details class="more" id="remediation"><summary>Scripts for Remediations</summary>
    <p>A remediation repairs the printer on PCs that have its app.${isApart && " It has no files: the driver must be there."}</p>
    <ul class="actions"><li>Detection script: <a href="${detectPath}">Download detect.ps1</a></li>
      <li>Remediation script: <a href="${installPath}">Download install.ps1${isApart && " without driver"}</a></li></ul>
    <p class="hint">After a change in Platen, replace both. ${hasSubnets && "Remediations do not read the subnets."}</p>
    ${helpLinks(["Remediations", "intune#remediations"])}</details>`;
}

/** The fields of a form, page by page, and a button that copies all of them. */
function fieldGroups(id: string, sections: readonly FieldSection[], logo: Html): Html {
  const lines = sections.flatMap(({ fields }) =>
    fields.filter(({ value }) => value !== "").map(({ label, value }) => `${label}: ${value}`),
  );
  return html`<pre id="${id}-all" hidden>${lines.join("\n")}</pre>
    <button type="button" class="copy" data-copy="${id}-all" hidden>Copy all</button>
    ${sections.map((section, i) => fieldGroup(`${id}-${i}`, section, logo))}`;
}

function fieldGroup(id: string, { title, fields }: FieldSection, logo: Html): Html {
  const rows = fields.map((field, i) => fieldRow(field.elementId ?? `${id}-${i}`, field, logo));
  return html`<div class="field-group"><h4>${title}</h4><dl class="values">${rows}</dl></div>`;
}

function fieldRow(id: string, { label, value, isCode, hint, elementId }: PackageField, logo: Html): Html {
  const visible = isCode ? html`<code id="${id}">${value}</code>` : html`<bdi id="${id}">${value}</bdi>`;
  const content =
    elementId === "logo"
      ? logo
      : html`${value !== "" && visible}${hint && html` <span class="hint">${hint}</span>`}`;
  const button =
    value !== "" &&
    html`<button type="button" class="copy quiet" data-copy="${id}" aria-describedby="${id}-label" hidden>Copy</button>`;
  return html`<div><dt id="${id}-label">${label}</dt><dd>${content}</dd><dd>${button}</dd></div>`;
}

function snippetBlock(id: string, { label, text, hint }: Snippet): Html {
  if (hint === undefined && !text.includes("\n")) return copyable(label, text, id);
  return html`<div class="snippet">
    <p class="label" id="${id}-label">${label} ${hint && html`<span class="hint">${hint}</span>`}</p>
    <pre id="${id}">${text}</pre>
    <button type="button" class="copy" data-copy="${id}" aria-describedby="${id}-label" hidden>Copy</button>
  </div>`;
}

function toolGuide(id: string, guide: ToolGuide, scripts: readonly OfferedScript[]): Html {
  const { tool, steps, snippet, variants } = guide;
  const items = steps.map((step) => html`<li>${step}</li>`);
  const links = variants && scripts.filter(({ kind }) => variants.kinds.includes(kind));
  return html`<details class="more" data-guide="${tool}"><summary>${tool}</summary><ol>${items}</ol>
    ${links && html`<ul class="actions">${links.map(({ kind, path }) => variantLink(variants.id, tool, kind, path))}</ul>`}
    ${snippet && snippetBlock(id, snippet)}</details>`;
}

function variantLink(id: string, tool: string, kind: string, path: string): Html {
  return html`<li><a href="${paths.scriptForTool(path, id)}">Download ${kind}.ps1 for ${tool}</a></li>`;
}

/** The value of the field “Logo”. @param path of the logo's download. @param hint shown if there is no logo */
export function logoOf(path: string | undefined, hint: Html, attributes?: Html): Html {
  const content =
    path === undefined
      ? html`<span class="hint">${hint}</span>`
      : html`<a href="${path}">Download the logo</a>`;
  return html`<span id="logo-value" ${attributes}>${content}</span>`;
}

/** The downloads for which users can make links. The labels are file names. */
export function linkTargets({ formats, scripts }: Pick<DeployOffer, "formats" | "scripts">): Link[] {
  return [
    ...scripts.map(({ path, fileName }) => ({ path, label: fileName })),
    ...formats.map(({ path, fileName }) => ({ path, label: fileName })),
    ...formats.flatMap(({ apart, publish }) =>
      [apart, publish].flatMap((other) => (other ? [{ path: other.path, label: other.fileName }] : [])),
    ),
  ];
}

/** Warns if the address in commands and scripts works only on the service's own machine. */
function loopbackNote({ isLoopbackOnly }: { readonly isLoopbackOnly: boolean }): Html | undefined {
  if (!isLoopbackOnly) return undefined;
  return html`<p class="hint">Commands and scripts from this page work only on the Platen server. Open Platen by
    its network name, or set <code>PUBLIC_URL</code>.</p>`;
}

/** Folded, because most users make no links. */
function linkFold(
  offer: Pick<DeployOffer, "formats" | "scripts">,
  { path, endPath, links, days, tokenPath }: NonNullable<DeployOffer["links"]>,
): Html {
  const targets = linkTargets(offer).map((target) => [target.path, String(target.label)] as const);
  const choices = linkDayChoices(days).map((count) => [String(count), counted(count, "day")] as const);
  return html`<details class="more links" id="links"><summary>Create or end links…</summary>
    <p>PCs and tools cannot sign in. Anyone with the link can download the file and, for a script, its driver.</p>
    <form method="post" action="${path}" class="panel">
      <div class="field"><label for="link-to">Link to</label>
        <select id="link-to" name="address">${selectOptions(targets, "")}</select></div>
      <div class="field"><label for="link-days">Valid for</label>
        <select id="link-days" name="days">${selectOptions(choices, String(days))}</select></div>
      <button>Create link</button></form>${helpLinks(["Links", "signing-in#links"])}
    ${tokenPath && html`<p>For regular downloads, create <a href="${tokenPath}">a token</a>.</p>`}
    ${links.length > 0 && linkTable(links)}
    <details class="delete"><summary>End all links…</summary>
      <form method="post" action="${endPath}">
        <p>Single scripts stop working: download them again. Downloaded packages still work.</p>
        <button class="danger">End all links</button></form></details></details>`;
}

interface LinkPage {
  readonly fileName: string;
  /** UTC, milliseconds since 1970. */
  readonly expires_at: number;
  readonly snippets: readonly Snippet[];
  readonly back: Link;
  readonly section: string;
  readonly isLoopbackOnly: boolean;
  /** Whether a command runs a script that it downloads over http. */
  readonly isInsecure: boolean;
}

/** Shows a new link. No other page contains it. */
export function linkPage(context: PageContext, made: LinkPage): Html {
  const { fileName, expires_at, snippets, back, section, isInsecure } = made;
  return page(
    { ...context, title: `Link to ${fileName}`, section },
    html`${loopbackNote(made)}<p><a href="${back.path}">${back.label}</a></p>
    <p>Valid until ${time(expires_at)}. Anyone with this link can download the file without signing in.</p>
    ${isInsecure && html`<p class="hint">${insecure}</p>`}
    ${snippets.map(({ label, text, hint }, i) => html`${copyable(label, text, `link-${i}`)}${hint && html`<p class="hint">${hint}</p>`}`)}`,
  );
}
