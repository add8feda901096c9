import { type KeptState, maxManual, recordsText } from "../../domain/backup/backup.ts";
import { type Html, html } from "../html.ts";
import { badge, copyable, emptyState, type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { bytes, counted, time } from "../text.ts";

interface BackupsData {
  /** Newest first. */
  readonly states: readonly KeptState[];
  /** The number of daily states to keep; 0 when backups are switched off. */
  readonly max: number;
  /** UTC, milliseconds since 1970; undefined when backups are switched off. */
  readonly nextAt: number | undefined;
  /** Whether no kept state has the current content. */
  readonly isChanged: boolean;
  /** Why the last backup failed. */
  readonly failure: { readonly at: number; readonly reason: string } | undefined;
  /** Files of deleted records that only backups need. */
  readonly files: { readonly count: number; readonly bytes: number };
}

export function backupsPage(pageContext: PageContext, data: BackupsData): Html {
  return page(
    { ...pageContext, title: "Backups", section: "Backups", action: data.max > 0 ? makeForm() : undefined },
    html`<section>${failureNote(data)}<p>${whenNote(data)}</p>${statesTable(data)}</section>
    ${filesSection(data)}
    ${fullBackupSection()}
    ${restoreSection()}`,
  );
}

/** The page's messages after a change, by the query parameter `done`. */
export const backupTexts = {
  new: "A backup was made, and read back. It stays beside the states of each day.",
  same: "Nothing was changed since the last backup that somebody asked for.",
  files: "The files of deleted drivers and icons are gone.",
} as const;

function makeForm(): Html {
  return html`<form class="inline" method="post" action="${paths.backups}"><button class="primary">Back up now</button></form>`;
}

function failureNote({ failure }: BackupsData): Html | undefined {
  return (
    failure &&
    html`<p class="warn">${badge("bad", "No backup")} At ${time(failure.at)} none could be made: ${failure.reason}. Records and pages are not affected; it is tried again after an hour.</p>`
  );
}

function whenNote({ max, nextAt, isChanged }: BackupsData): Html {
  if (nextAt === undefined) return html`No states of the database are kept: BACKUPS is 0.`;
  const changed = isChanged
    ? "What was changed since the newest one is not in any yet."
    : "The newest one is what is saved now.";
  return html`The newest state of each day is kept, ${max} at most, when the day is over in UTC: next at ${time(nextAt)}, if anything is changed.
    Of those that somebody asked for, the last ${maxManual} stay besides. ${changed}`;
}

function statesTable({ states, max }: BackupsData): Html | undefined {
  if (states.length === 0)
    return max === 0
      ? undefined
      : emptyState("The first state is kept a minute after the first change.", makeForm());
  return html`<table id="backup-list"><thead><tr><th scope="col">State of</th><th scope="col">Records</th>
    <th scope="col" class="number">Size</th><th scope="col">Read back</th></tr></thead>
    <tbody>${states.map(stateRow)}</tbody></table>
  <p class="soft">A state holds all records, no archives and no secret. Archives and icons of what was deleted since are kept with it while the disk
    has a gigabyte free; a driver whose archive is missing says so on its page, where the same ZIP can be uploaded again.</p>`;
}

function stateRow(state: KeptState): Html {
  return html`<tr>
    <td data-label="State of"><div><a href="${paths.backup(state.name)}">${time(state.savedAt)}</a>${state.isManual && html`<br><span class="soft">asked for</span>`}</div></td>
    <td data-label="Records">${state.checked?.facts ? recordsText(state.checked.facts) : "unknown"}</td>
    <td data-label="Size" class="number">${bytes(state.size)}</td>
    <td data-label="Read back"><span>${checkedOf(state)}</span></td></tr>`;
}

function checkedOf({ checked }: KeptState): Html {
  if (checked === undefined) return badge("plain", "Not yet");
  if (checked.problem !== undefined)
    return html`${badge("bad", "Damaged")} <bdi class="soft">${checked.problem}</bdi>`;
  return html`${badge("good", "Good")} ${time(checked.at)}`;
}

function filesSection({ files }: BackupsData): Html | undefined {
  if (files.count === 0) return undefined;
  return html`<section><h2>Files of what was deleted</h2>
    <p>Kept because backups name them: ${counted(files.count, "file")} of deleted drivers and icons, ${bytes(files.bytes)}. They go with the last of those backups, or when less
      than a gigabyte is free.</p>
    <details class="delete"><summary>Delete them now…</summary><form method="post" action="${paths.backupFilesDelete}">
      <p>Whoever goes back to an older state then has to upload these ZIPs again.</p><button class="danger">Delete for good</button></form></details></section>`;
}

const inContainer = "docker compose run --rm -T platen node /app/platen.cjs";

function fullBackupSection(): Html {
  return html`<section><h2>Everything in one file</h2>
    <p>Records, archives, icons, audit log and the installation’s secret, each with its SHA-256, while Platen runs. Keep it on another machine, and to yourself (<code>umask 077</code> first).</p>
    ${copyable("In a container", "docker compose exec -T platen node /app/platen.cjs backup - > platen.tar", "backup-container")}
    ${copyable("Without a container, with the service’s DATA_DIR", "node platen.cjs backup platen.tar", "backup-file")}</section>`;
}

function restoreSection(): Html {
  return html`<section><h2>Going back</h2>
    <p>Stop Platen first. Every digest is compared before anything is replaced, and what was there is kept in a dated folder. Accounts, sessions and tokens become those of that time, also what was revoked since.</p>
    ${copyable("In a container: stop it", "docker compose stop", "restore-stop")}
    ${copyable("Put everything back", `${inContainer} restore - < platen.tar`, "restore-container")}
    ${copyable("Start it", "docker compose up -d", "restore-start")}
    ${copyable("Without a container", "node platen.cjs restore platen.tar", "restore-file")}
    <p>Where the database is damaged, Platen does not start and names the newest good state: <code>node platen.cjs --recover</code> sets the damaged file aside and
      goes on from that state.</p>
    <p>To go back to a state of this page, stop Platen, and put its file from the folder <code>backups</code> in the place of the database; what was there stays beside it. Links that were made end, those in scripts, too.</p>
    ${copyable("In DATA_DIR, or in the container’s volume", `mv platen.sqlite platen.sqlite.before && cp -p backups/NAME platen.sqlite`, "state-back")}</section>`;
}
