import { linkDays } from "../../domain/access/link.ts";
import type { Snippet } from "../../domain/deploy/package-format.ts";
import { counted } from "../../domain/text.ts";
import { selectOptions } from "../form.ts";
import { type Html, html } from "../html.ts";
import { copyable, type Frame, type Link, page } from "../layout.ts";
import { time } from "../text.ts";
import type { DeployOffer } from "./deploy.ts";

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
export function ownOnlyNote({ isOwnOnly }: { readonly isOwnOnly: boolean }): Html | undefined {
  if (!isOwnOnly) return undefined;
  return html`<p class="notice warn">The address below reaches Platen from this machine alone. Open Platen under the name
    that other machines know, or set <code>PUBLIC_URL</code>, before you copy or download.</p>`;
}

/** Folded: who hands nothing on needs none of it. */
export function linkFold(
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
