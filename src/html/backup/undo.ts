import {
  changedTable,
  type NotRestored,
  type RecentDeletion,
  type RestoredRecord,
} from "../../domain/deletion.ts";
import { type Html, html } from "../html.ts";
import type { Message } from "../layout.ts";
import { paths } from "../paths.ts";
import { count, counted } from "../text.ts";

/** The page of a restored or changed record. */
export function restoredPath({ kind, recordId }: Pick<RestoredRecord, "kind" | "recordId">): string {
  if (kind.endsWith("printers")) return paths.printers;
  if (kind.endsWith("client")) return paths.client(recordId);
  return kind.endsWith("driver") ? paths.driver(recordId) : paths.printer(recordId);
}

export function restoredMessage(record: RestoredRecord): Message {
  const name = html`<a href="${restoredPath(record)}"><bdi>${record.name}</bdi></a>`;
  const remarks = record.remarks.map((remark) => html` ${remark}`);
  return { tone: remarks.length > 0 ? "warn" : "good", text: html`Restored: ${name}.${remarks}` };
}

/** The message after a user made a deletion final. */
export function endedMessage(name: string): Message {
  return { tone: "good", text: html`Permanently deleted: <bdi>${name}</bdi>.` };
}

/** Why a deletion could not be undone, with a link to the remedy. */
export function notRestoredMessage({ message, obstacle }: NotRestored): Message {
  const why = { tone: "bad", text: html`Not restored. <bdi>${message}</bdi>` } as const;
  if (obstacle.kind === "name")
    return { ...why, links: [{ label: "Rename the other client", path: paths.client(obstacle.client.id) }] };
  if (obstacle.kind === "upload")
    return { ...why, links: [{ label: "Open the driver", path: paths.driver(obstacle.driver.id) }] };
  if (obstacle.kind !== "needs") return why;
  const { id, name } = obstacle.deletion;
  return { ...why, undo: { path: paths.undo(id), label: html`<span>Undo: <bdi>${name}</bdi></span>` } };
}

const maxVisible = 100;

/**
 * The deletions and changes that can be undone, with the time left.
 * @param deletions newest first
 * @param before shows deletions with lower ids, if there are any; undefined shows the newest
 */
export function deletedSection(deletions: readonly RecentDeletion[], before?: number): Html | undefined {
  const requested = before === undefined ? deletions : deletions.filter(({ id }) => id < before);
  const visible = (requested.length > 0 ? requested : deletions).slice(0, maxVisible);
  const last = visible.at(-1);
  if (last === undefined) return undefined;
  const earlier = deletions.filter(({ id }) => id < last.id).length;
  return html`<section id="deleted"><h2>Changed or deleted in the last ten minutes</h2><ul class="deleted">${visible.map(deletedRow)}</ul>
    ${earlier > 0 && html`<p><a href="${paths.deletedBefore(last.id)}">${count(earlier)} earlier</a></p>`}</section>`;
}

/** The button that makes a deletion final is folded, with a warning. Changes have none. */
function deletedRow(deletion: RecentDeletion): Html {
  const { id, kind, name, leftMs } = deletion;
  const isChange = changedTable(kind) !== undefined;
  const title = html`<bdi>${name}</bdi>`;
  // Several printers and files have a name that says what they are.
  const record = /printers$|^icon|^preferences/.test(kind) ? "" : kind.replace("changed-", "");
  return html`<li>
    <span class="what">${isChange ? html`<a href="${restoredPath(deletion)}">${title}</a>` : title} <span class="soft">${record}${isChange && " changed"}</span></span>
    <time class="soft" datetime="PT${Math.ceil(leftMs / 1000)}S">${left(leftMs)}</time>
    <span class="row-actions">
      <form class="inline" method="post" action="${paths.undo(id)}">
        <button>Undo<span class="visually-hidden"> the ${isChange ? "change" : "deletion"} of ${name}</span></button></form>
      ${!isChange && deleteForGood(id, name)}</span></li>`;
}

function deleteForGood(id: number, name: string): Html {
  return html`<details class="delete"><summary>Delete permanently<span class="visually-hidden">: ${name}</span>…</summary>
    <form method="post" action="${paths.deleteForGood(id)}"><p>You cannot undo this. The files are deleted too.</p>
      <button class="danger">Delete permanently<span class="visually-hidden">: ${name}</span></button></form></details>`;
}

function left(ms: number): string {
  return ms < 60_000 ? "less than a minute left" : `${counted(Math.round(ms / 60_000), "minute")} left`;
}
