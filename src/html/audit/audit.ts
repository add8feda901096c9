import {
  type AuditEntry,
  type AuditEvent,
  type ChangedField,
  isRevoked,
  type RecordKind,
  recordKinds,
} from "../../domain/audit/audit.ts";
import {
  type AuditFilter,
  auditQuery,
  type FilterEvent,
  filterEvents,
  maxFilterCharacters,
} from "../../domain/audit/audit-filter.ts";
import { isPrinterFile } from "../../domain/deletion.ts";
import { valueLabel } from "../../domain/printers/setting-values.ts";
import { downloadWord, labelOfField } from "../field-labels.ts";
import { selectOptions } from "../form.ts";
import { type Html, html } from "../html.ts";
import { helpLinks, type PageContext, page } from "../layout.ts";
import { paths } from "../paths.ts";
import { count, time, timeZone } from "../text.ts";

interface AuditPageData {
  readonly entries: readonly AuditEntry[];
  readonly filter: AuditFilter;
  /** The fields of the filter whose values are ignored, because no entry can have them. */
  readonly unusable: readonly (keyof AuditFilter)[];
  /** The query parameter `before` of the page with older entries; undefined if there are none. */
  readonly next: string | undefined;
  /** The time of the oldest entry that this page's search read. */
  readonly searchedBackTo: number | undefined;
  /** Whether the page begins with the newest entry. */
  readonly isFirst: boolean;
}

/** Events that the page does not name as the log does. */
const eventWords: Partial<Record<FilterEvent, string>> = {
  "sign-in-failed": "Sign-in failed",
  "sessions-ended": "Sessions signed out",
  "download-begun": "Download started",
  "deleted-for-good": "Permanently deleted",
  "links-ended": "Links ended",
  "link-made": "Link created",
  signed: "Script signed",
  "signatures-deleted": "Signatures deleted",
  "backup-made": "Backup created",
  "backup-fetched": "Backup downloaded",
  "log-mended": "Log repaired",
  "backup-files-deleted": "Unneeded files deleted",
  recovered: "Database recovered from a backup",
  started: "Service started",
  stopped: "Service stopped",
  "log-shortened": "Old entries removed",
  "log-broken": "Log is broken",
};

/** `Signed in` for `signed-in`. */
function wordOf(event: FilterEvent | RecordKind): string {
  const known: Readonly<Record<string, string>> = eventWords;
  return known[event] ?? `${event.charAt(0).toUpperCase()}${event.slice(1).replaceAll("-", " ")}`;
}

export function auditPage(context: PageContext, data: AuditPageData): Html {
  const { filter, entries, unusable } = data;
  const query = auditQuery(filter).toString();
  const csv = html`<a class="button" href="${paths.auditCsv}${query && `?${query}`}">Export CSV</a>`;
  return page(
    { ...context, title: "Audit log", section: "Audit log", action: csv },
    html`<p class="soft">Newest first. Times and days are in the time zone ${timeZone()}.</p>${helpLinks(["Audit log", "security#audit-log"])}
    ${filterForm(filter, query !== "")}
    ${unusable.length > 0 && html`<p class="notice warn" role="alert">Ignored invalid filters: ${unusable.map((name) => filterLabels[name]).join(", ")}.</p>`}
    ${entries.length > 0 ? html`<ol class="audit">${entries.map(entryItem)}</ol>` : html`<p>${emptyText(data)}</p>`}
    ${olderLink(data, query)}`,
  );
}

function emptyText({ isFirst, next, filter }: AuditPageData): string {
  if (next !== undefined) return "No match yet. Search the older entries.";
  if (auditQuery(filter).size > 0) return isFirst ? "No matches." : "No older matches.";
  return "No entries yet.";
}

function olderLink({ next, searchedBackTo }: AuditPageData, query: string): Html | undefined {
  if (next === undefined) return undefined;
  const path = `${paths.audit}?${query}${query && "&"}before=${next}`;
  return html`<p class="actions"><a class="button" href="${path}">Older entries</a>
    ${searchedBackTo !== undefined && html`<span class="soft">This page goes back to ${time(searchedBackTo)}.</span>`}</p>`;
}

const filterLabels: Readonly<Record<keyof AuditFilter, string>> = {
  q: "Search",
  who: "User or IP address",
  event: "Event",
  kind: "Type",
  id: "ID",
  since: "From date",
  until: "To date",
};

function filterForm(filter: AuditFilter, isFiltered: boolean): Html {
  const { event = "", kind = "" } = filter;
  const events = filterEvents.map((event) => [event, wordOf(event)] as const);
  const kinds = recordKinds.map((kind) => [kind, wordOf(kind)] as const);
  const text = html`maxlength="${maxFilterCharacters}"`;
  return html`<form class="audit-filter" method="get" action="${paths.audit}" role="search" aria-label="Filter the log">
    ${input(filter, "q", text)}
    ${input(filter, "who", text)}
    ${select("event", events, event)}
    ${select("kind", kinds, kind)}
    ${input(filter, "id", html`inputmode="numeric" maxlength="15"`)}
    ${input(filter, "since", html`type="date"`)}
    ${input(filter, "until", html`type="date"`)}
    <p class="actions"><button class="primary">Filter</button>${isFiltered && html` <a href="${paths.audit}">Show all</a>`}</p>
  </form>`;
}

function input(filter: AuditFilter, name: keyof AuditFilter, attributes: Html): Html {
  return html`<p><label for="audit-${name}">${filterLabels[name]}</label>
    <input id="audit-${name}" name="${name}" value="${filter[name]}" ${attributes}></p>`;
}

function select(
  name: "event" | "kind",
  choices: readonly (readonly [string, string])[],
  chosen: string,
): Html {
  return html`<p><label for="audit-${name}">${filterLabels[name]}</label>
    <select id="audit-${name}" name="${name}">${selectOptions([["", "Any"], ...choices], chosen)}</select></p>`;
}

function entryItem(entry: AuditEntry): Html {
  const { seq, who, from, event, record, fields = [], range, count: times, digest } = entry;
  const what = entry.what && downloadWord(entry.what);
  return html`<li>
    <p class="audit-head"><span class="${badEvents.has(event) && "bad"}"><strong>${wordOf(isRevoked(entry) ? "revoked" : event)}</strong>${what !== undefined && html` <bdi>${what}</bdi>`}${record && html`, ${recordOf(entry)}`}${
      range && html`, bytes ${count(range.first)} to ${count(range.last)} of ${count(range.size)}`
    }${times !== undefined && times > 1 && html`, ${count(times)} times`}</span>
      <span class="soft">${when(entry)} · <bdi>${who}</bdi>${from !== "" && html` from <bdi>${from}</bdi>`} · entry ${seq}</span></p>
    ${fields.length > 0 && html`<ul class="audit-fields">${fields.map(fieldItem)}</ul>`}
    ${digest !== undefined && digest !== "" && digestLine(entry)}
  </li>`;
}

/** For counted events, the first and the last time. */
function when({ at, since }: AuditEntry): Html {
  return since === undefined ? time(at) : html`${time(since)} to ${time(at)}`;
}

const badEvents = new Set<AuditEvent>(["log-broken", "entries-lost", "sign-in-failed", "refused"]);

function digestLine({ by, digest, printers = [] }: AuditEntry): Html {
  const several = printers.length > 1 && html`, ${count(printers.length)} printers`;
  return html`<p class="soft audit-digest">${by}, digest <code>${digest}</code>${several}</p>`;
}

const deletionEvents = new Set<AuditEvent>(["deleted", "deleted-for-good"]);

const pagesOf: Partial<Record<RecordKind, (id: number) => string>> = {
  printer: paths.printer,
  icon: paths.printer,
  preferences: paths.printer,
  client: paths.client,
  driver: paths.driver,
};

/** The record with a link to its page, unless it was deleted, and a link to its history. */
function recordOf({ event, record }: AuditEntry): Html | undefined {
  if (record === undefined) return undefined;
  const { kind, id, name } = record;
  const path = deletionEvents.has(event) ? undefined : pagesOf[kind]?.(id);
  const label = html`<bdi>${name || "no name"}</bdi>`;
  const history = paths.auditOf(isPrinterFile(kind) ? "printer" : kind, id);
  return html`${kind} ${path ? html`<a href="${path}">${label}</a>` : label} ${numberOf(String(id))}
    <a class="soft" href="${history}" aria-label="History of ${kind} ${name}">history</a>`;
}

/** The number of a record, apart from its name. */
function numberOf(id: string): Html {
  return html`<span class="soft">ID ${id}</span>`;
}

function fieldItem({ name, from, to }: ChangedField): Html {
  const word = labelOfField(name);
  const label = word === undefined ? html`<code>${name}</code>` : html`<span class="soft">${word}:</span>`;
  if (to === undefined) return html`<li>${label} changed</li>`;
  if (from === undefined) return html`<li>${label} ${value(name, to)}</li>`;
  return html`<li>${label} <del>${value(name, from)}</del> <span aria-label="became">→</span> <ins>${value(name, to)}</ins></li>`;
}

/** These fields have the number and the name of a record. */
const references = new Set(["client_id", "driver_id", "arm64_driver_id"]);

function value(name: string, text: string): Html {
  const [, id, recordName] = (references.has(name) && /^(\d+)(?: (.+))?$/s.exec(text)) || [];
  if (id !== undefined) return html`${recordName && html`<bdi>${recordName}</bdi> `}${numberOf(id)}`;
  if (name === "expires_at" && !Number.isNaN(Date.parse(text))) return time(Date.parse(text));
  const shown = valueLabel(name, text);
  return shown === "" ? html`<span class="soft">nothing</span>` : html`<bdi>${shown}</bdi>`;
}
