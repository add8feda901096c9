import { type KeptState, maxManual, recordsText } from "../../domain/backup/backup.ts";
import { type Html, html } from "../html.ts";
import { badge, copyable, emptyState, helpLinks, type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { bytes, counted, time } from "../text.ts";

interface BackupsData {
  /** Backups of the database, the newest first. */
  readonly states: readonly KeptState[];
  /** The number of daily states to keep; 0 if backups are switched off. */
  readonly max: number;
  /** The time of the next backup. UTC, milliseconds since 1970; undefined if backups are switched off. */
  readonly nextAt: number | undefined;
  /** Whether anything changed since the newest backup. */
  readonly isChanged: boolean;
  /** Undefined unless the last backup failed. */
  readonly failure: { readonly at: number; readonly reason: string } | undefined;
  /** Files of deleted records that only backups need. */
  readonly files: { readonly count: number; readonly bytes: number };
}

export function backupsPage(context: PageContext, data: BackupsData): Html {
  return page(
    { ...context, title: "Backups", section: "Backups", action: data.max > 0 && backupForm },
    html`<section>${failureNote(data)}<p>${whenNote(data)}</p>${helpLinks(["Backup and restore", "backup"])}${statesTable(data)}</section>
    ${filesSection(data)}
    ${fullBackupSection}`,
  );
}

/** Messages after a change, by the value of the query parameter `done`. */
export const backupTexts = {
  new: "Backup created and verified.",
  same: "No backup created. Nothing changed since the last manual backup.",
  files: "The files of deleted records were deleted.",
} as const;

const backupForm = html`<form class="inline" method="post" action="${paths.backups}"><button class="primary">Back up now</button></form>`;

function failureNote({ failure }: BackupsData): Html | undefined {
  return (
    failure &&
    html`<p class="warn">${badge("bad", "Backup failed")} ${time(failure.at)}: ${failure.reason}. Platen tries again after an hour.</p>`
  );
}

function whenNote({ max, nextAt, isChanged }: BackupsData): Html {
  if (nextAt === undefined) return html`Daily backups are turned off (BACKUPS=0).`;
  const changed = isChanged
    ? "The latest backup does not contain the latest changes."
    : "The latest backup is up to date.";
  return html`Platen keeps a backup of each of the last ${max} days with changes. Next backup: ${time(nextAt)}.
    It also keeps the last ${maxManual} manual backups. ${changed}`;
}

function statesTable({ states, max }: BackupsData): Html | undefined {
  if (states.length === 0)
    return max === 0
      ? undefined
      : emptyState("Platen makes the first backup one minute after the first change.", backupForm);
  return html`<table id="backup-list"><thead><tr><th scope="col">Backup of</th><th scope="col">Records</th>
    <th scope="col" class="number">Size</th><th scope="col">Verified</th></tr></thead>
    <tbody>${states.map(stateRow)}</tbody></table>
  <p class="soft">These backups contain all records, but no driver ZIPs, icons or secret.</p>`;
}

function stateRow(state: KeptState): Html {
  return html`<tr>
    <td data-label="Backup of"><div><a href="${paths.backup(state.name)}">${time(state.savedAt)}</a>${state.isManual && html`<br><span class="soft">manual</span>`}</div></td>
    <td data-label="Records">${state.checked?.facts ? recordsText(state.checked.facts) : "unknown"}</td>
    <td data-label="Size" class="number">${bytes(state.size)}</td>
    <td data-label="Verified"><span>${checkedOf(state)}</span></td></tr>`;
}

function checkedOf({ checked }: KeptState): Html {
  if (checked === undefined) return badge("plain", "Not verified yet");
  if (checked.problem !== undefined)
    return html`${badge("bad", "Damaged")} <bdi class="soft">${checked.problem}</bdi>`;
  return html`${badge("good", "OK")} ${time(checked.at)}`;
}

function filesSection({ files }: BackupsData): Html | undefined {
  if (files.count === 0) return undefined;
  return html`<section><h2>Files of deleted records</h2>
    <p>Older backups need ${counted(files.count, "file")} of deleted records (${bytes(files.bytes)}).</p>
    <details class="delete"><summary>Delete files…</summary><form method="post" action="${paths.backupFilesDelete}">
      <p>If you restore an older backup, you must upload these ZIPs again.</p><button class="danger">Delete permanently</button></form></details></section>`;
}

const fullBackupSection = html`<section><h2>Full backup</h2>
    <p>A full backup contains all data and the secret. Keep it safe on another PC.</p>
    ${copyable("In a container", "docker compose exec -T platen node /app/platen.cjs backup - > platen.tar", "backup-container")}
    ${copyable("Without a container, with the service’s DATA_DIR", "node platen.cjs backup platen.tar", "backup-file")}
    ${helpLinks(["Restore a backup", "backup#restore"], ["Recover a damaged database", "backup#recover-a-damaged-database"])}</section>`;
