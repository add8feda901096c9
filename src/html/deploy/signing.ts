import type { SignedCount } from "../../domain/deploy/signature.ts";
import { type Html, html } from "../html.ts";
import { copyable, helpLinks } from "../layout.ts";
import { paths } from "../paths.ts";
import { count, counted, firstOf, isolated } from "../text.ts";

/** How many scripts of a record are signed. */
export function signedLine({ signed, total, signer }: SignedCount, isChangeable: boolean): Html {
  const link = isChangeable && html` <a href="${paths.packagesSign}">Sign scripts</a>`;
  if (signed === total) return html`<p>Signed by <bdi>${signer}</bdi></p>`;
  const text = `${count(total - signed)} of ${counted(total, "script")} ${total - signed === 1 ? "is" : "are"} new or changed since`;
  const unsigned = html`<span class="warn">${signed === 0 ? "Not signed" : text}</span>`;
  const signedBy = signed > 0 && html`Signed by <bdi>${signer}</bdi>; `;
  const why = signed === 0 && ": its scripts are new, or have changed since they were signed";
  return html`<p>${signedBy}${unsigned}${why}.${link}</p>`;
}

/** Clients to name in a sentence about several. */
const maxNamed = 5;

/**
 * What an operator does for all clients together.
 * @param signed undefined where nobody signs scripts
 * @param withoutTenant the names of clients with printers and without a tenant
 */
export function allClientsSection(signed: SignedCount | undefined, withoutTenant: readonly string[]): Html {
  return html`<section id="all-clients" class="off-paper"><h2>All clients</h2><div class="cards">
    <section class="card" id="publish-all"><h3>Publish to Intune</h3>
      <p>One script publishes the printers of each client to the client’s own tenant.</p>
      ${withoutTenant.length > 0 && html`<p class="warn">Without a tenant, and left out: ${isolated(firstOf(withoutTenant, maxNamed))}. Enter it on the client’s page, or use <code>-Tenants</code>.</p>`}
      <p><a class="button" href="${paths.publishAll}">Download publish.ps1</a></p>
      ${copyable("Run this command in the download folder. It only shows what would change", publishCommand, "publish-all-command")}
      ${helpLinks(["Many tenants", "publish#many-tenants"])}</section>
    <section class="card" id="sign"><h3>Sign scripts</h3>
      <p>For PCs that run only signed scripts (<em>AllSigned</em>, App Control). The key of your certificate stays on your PC.</p>
      ${signed && signedLine(signed, false)}
      <p><a class="button" href="${paths.sign}">Download sign.ps1</a></p>
      ${copyable("Run this command on Windows, in the download folder", signCommand, "sign-command")}
      ${signed && signed.signed > 0 && deletion}
      ${helpLinks(["Signed scripts", "locked-down#signed-scripts"])}</section></div></section>`;
}

const deletion = html`<details class="delete"><summary>Delete all signatures…</summary>
  <p>Scripts and packages then contain none, and PCs that require signed scripts refuse them. sign.ps1 can sign them again.</p>
  <form method="post" action="${paths.signaturesDelete}"><button class="danger">Delete all signatures</button></form></details>`;

const bypass = "powershell.exe -NoProfile -ExecutionPolicy Bypass -File";
const publishCommand = `${bypass} .\\publish-all-clients.ps1 -WhatIf`;
// Without a certificate, the script lists those of the PC.
const signCommand = `${bypass} .\\sign.ps1`;
