import {
  type AuditEntry,
  type AuditEvent,
  auditEvents,
  type ChangedField,
  type RecordKind,
  recordKinds,
} from "../../domain/audit/audit.ts";
import { type AuditFilter, auditQuery, maxFilterCharacters } from "../../domain/audit/audit-filter.ts";
import { selectOptions } from "../form.ts";
import { type Html, html } from "../html.ts";
import { type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { count, time, timeZone } from "../text.ts";

interface AuditPageData {
  readonly entries: readonly AuditEntry[];
  readonly filter: AuditFilter;
  /** The query parameter `before` of the page with older entries; undefined if there are none. */
  readonly next: string | undefined;
  /** The time of the oldest entry that this page's search read. */
  readonly searchedBackTo: number | undefined;
  /** Whether the page begins with the newest entry. */
  readonly isFirst: boolean;
}

const eventWords: Record<AuditEvent, string> = {
  created: "Created",
  changed: "Changed",
  deleted: "Deleted",
  restored: "Restored",
  "download-begun": "Download begun",
  downloaded: "Downloaded",
  "signed-in": "Signed in",
  "sign-in-failed": "Sign-in failed",
  "signed-out": "Signed out",
  refused: "Refused",
  "sessions-ended": "Signed out elsewhere",
  "link-made": "Link made",
  "links-ended": "All links made invalid",
  "backup-made": "Backup made",
  "backup-fetched": "Backup fetched",
  "backup-files-deleted": "Kept archives deleted",
  recovered: "Database recovered from a backup",
  "backup-restored": "Backup restored",
  "deleted-for-good": "Deleted for good",
  started: "Service started",
  stopped: "Service stopped",
  "log-shortened": "Old entries removed",
  "log-mended": "Log mended",
  "log-broken": "Log is broken",
  "entries-lost": "Entries lost",
};

const kindLabels: Record<RecordKind, string> = {
  client: "Client",
  driver: "Driver",
  printer: "Printer",
  icon: "Icon",
  account: "Account",
  token: "Token",
};

export function auditPage(context: PageContext, data: AuditPageData): Html {
  const { filter, entries } = data;
  const query = auditQuery(filter).toString();
  const csv = html`<a class="button" href="${paths.auditCsv}${query && `?${query}`}">As CSV</a>`;
  return page(
    { ...context, title: "Audit log", section: "Audit log", action: csv },
    html`<p class="soft">Who changed or downloaded what, newest entry first. Frequent events are counted in one later entry with the times of the first and the last.
      Times and days are in the time zone ${timeZone()}. <code>platen audit verify</code> checks whether the log itself was changed.</p>
    ${filterForm(filter, query !== "")}
    ${entries.length > 0 ? html`<ol class="audit">${entries.map(entryItem)}</ol>` : html`<p>${emptyText(data)}</p>`}
    ${olderLink(data, query)}`,
  );
}

/** The link from a record's page to its history; only for admins. */
export function historyLink(
  { visitor }: PageContext,
  kind: "printer" | "client" | "driver",
  id: number,
): Html | undefined {
  if (visitor.role !== "admin") return undefined;
  return html`<p class="off-paper"><a href="${paths.auditOf(kind, id)}">History of this ${kind}</a></p>`;
}

function emptyText({ isFirst, next, filter }: AuditPageData): string {
  if (next !== undefined) return "No entry matches so far. Older entries have not been searched yet.";
  if (auditQuery(filter).size > 0) return isFirst ? "Nothing matches." : "Nothing older matches.";
  return "Nothing has happened yet.";
}

function olderLink({ next, searchedBackTo }: AuditPageData, query: string): Html | undefined {
  if (next === undefined) return undefined;
  const path = `${paths.audit}?${query}${query && "&"}before=${next}`;
  return html`<p class="actions"><a class="button" href="${path}">Older entries</a>
    ${searchedBackTo !== undefined && html`<span class="soft">This page goes back to ${time(searchedBackTo)}.</span>`}</p>`;
}

function filterForm(filter: AuditFilter, isNarrowed: boolean): Html {
  const { who, event, kind, id, since, until, q } = filter;
  const kinds = recordKinds.map((kind) => [kind, kindLabels[kind]] as const);
  const events = auditEvents.map((event) => [event, eventWords[event]] as const);
  return html`<form class="audit-filter" method="get" action="${paths.audit}" role="search" aria-label="Narrow the log">
    ${textField("q", "Words", q)}
    ${textField("who", "Who, or where", who)}
    ${select("event", "Event", events, event)}
    ${select("kind", "Kind of record", kinds, kind)}
    <p><label for="audit-id">Its number</label><input id="audit-id" name="id" value="${id}" inputmode="numeric" maxlength="15"></p>
    ${dayField("since", "From day", since)}
    ${dayField("until", "To day", until)}
    <p class="actions"><button class="primary">Narrow</button>${isNarrowed && html` <a href="${paths.audit}">Show all</a>`}</p>
  </form>`;
}

function textField(name: string, label: string, value: string): Html {
  return html`<p><label for="audit-${name}">${label}</label>
    <input id="audit-${name}" name="${name}" value="${value}" maxlength="${maxFilterCharacters}"></p>`;
}

function dayField(name: string, label: string, value: string): Html {
  return html`<p><label for="audit-${name}">${label}</label><input id="audit-${name}" type="date" name="${name}" value="${value}"></p>`;
}

function select(
  name: string,
  label: string,
  choices: readonly (readonly [value: string, label: string])[],
  chosen = "",
): Html {
  return html`<p><label for="audit-${name}">${label}</label>
    <select id="audit-${name}" name="${name}">${selectOptions([["", "Any"], ...choices], chosen)}</select></p>`;
}

function entryItem(entry: AuditEntry): Html {
  const { seq, who, from, event, record, fields = [], what, range, count: times, digest } = entry;
  return html`<li>
    <p class="audit-head"><span class="${badEvents.has(event) && "bad"}"><strong>${wordOf(entry)}</strong>${what !== undefined && html` <bdi>${what}</bdi>`}${record && html`, ${recordOf(entry)}`}${
      range && html`, bytes ${count(range.first)} to ${count(range.last)} of ${count(range.size)}`
    }${times !== undefined && times > 1 && html`, ${count(times)} times`}</span>
      <span class="soft">${when(entry)} · <bdi>${who}</bdi>${from !== "" && html` from <bdi>${from}</bdi>`} · entry ${seq}</span></p>
    ${fields.length > 0 && html`<ul class="audit-fields">${fields.map(fieldItem)}</ul>`}
    ${digest !== undefined && digest !== "" && digestLine(entry)}
  </li>`;
}

/** Deleted tokens are called revoked. */
function wordOf({ event, record }: AuditEntry): string {
  return event === "deleted" && record?.kind === "token" ? "Revoked" : eventWords[event];
}

/** For counted events, the first and the last time. */
function when({ at, since }: AuditEntry): Html {
  return since === undefined ? time(at) : html`${time(since)} to ${time(at)}`;
}

const badEvents = new Set<AuditEvent>(["log-broken", "entries-lost", "sign-in-failed", "refused"]);

function digestLine({ by, digest, printers = [] }: AuditEntry): Html {
  const several = printers.length > 1 && html`, ${count(printers.length)} printers`;
  return html`<p class="soft audit-digest">by a ${by}, digest <code>${digest}</code>${several}</p>`;
}

const deletionEvents = new Set<AuditEvent>(["deleted", "deleted-for-good"]);

const pagesOf: Partial<Record<RecordKind, (id: number) => string>> = {
  printer: paths.printer,
  icon: paths.printer,
  client: paths.client,
  driver: paths.driver,
};

/** The record with a link to its page, unless it was deleted, and a link to its history. */
function recordOf({ event, record }: AuditEntry): Html | undefined {
  if (record === undefined) return undefined;
  const { kind, id, name } = record;
  const path = deletionEvents.has(event) ? undefined : pagesOf[kind]?.(id);
  const label = html`<bdi>${name || `number ${id}`}</bdi>`;
  const history = paths.auditOf(kind === "icon" ? "printer" : kind, id);
  return html`${kind} ${path ? html`<a href="${path}">${label}</a>` : label}
    <a class="soft" href="${history}" aria-label="History of ${kind} ${name}">history</a>`;
}

/** Labels for database columns whose names are hard to read. */
const fieldWords: ReadonlyMap<string, string> = new Map([
  ["one_time", "one-time password"],
  ["password_hash", "password"],
  ["client_id", "client"],
  ["driver_id", "driver"],
  ["arm64_driver_id", "driver for ARM64"],
  ["driver_desc", "model"],
  ["model_chosen", "model chosen"],
  ["trust_publisher", "publisher trusted"],
  ["drop_unused", "unused files left out"],
  ["file_name", "file"],
  ["inf_path", "INF"],
  ["sha256", "SHA-256"],
  ["print_ticket", "PrintTicket"],
  ["scope", "scope"],
  ["scope_id", "its number"],
  ["expires_at", "ends"],
]);

function fieldItem({ name, from, to }: ChangedField): Html {
  const word = fieldWords.get(name);
  const label = word === undefined ? html`<code>${name}</code>` : html`<span class="soft">${word}:</span>`;
  if (to === undefined) return html`<li>${label} changed</li>`;
  if (from === undefined) return html`<li>${label} ${value(to)}</li>`;
  return html`<li>${label} <del>${value(from)}</del> <span aria-label="became">→</span> <ins>${value(to)}</ins></li>`;
}

function value(text: string): Html {
  return text === "" ? html`<span class="soft">nothing</span>` : html`<bdi>${text}</bdi>`;
}
