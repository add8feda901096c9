import { type FindingKind, findingKinds, states } from "../domain/printers/findings.ts";
import type { ClientName } from "../domain/printers/listings.ts";
import {
  isNarrowed,
  type ListName,
  maxQuery,
  type Narrowing,
  type WantedState,
} from "../domain/printers/search.ts";
import { type Html, html } from "./html.ts";
import { emptyState } from "./layout.ts";
import { paths } from "./paths.ts";
import { stateWord } from "./state-badge.ts";
import { count, counted } from "./text.ts";

/** The pages with a list that users can filter. */
type NarrowedPage = ListName | "packages";

/** A filtered list. */
interface NarrowedList {
  readonly rows: readonly unknown[];
  readonly narrowing: Narrowing;
  /** The number of rows without the filter. */
  readonly total: number;
}

/** The labels in the state select. */
const findingKindLabels: Record<FindingKind, string> = {
  "no-driver": "No driver assigned",
  archive: "Driver ZIP missing or damaged",
  incomplete: "No INF or no model",
  "missing-files": "Files missing",
  "lost-model": "Model not in the INF",
  unsigned: "Unsigned",
  "not-for-arm64": "ARM64 driver without ARM64 files",
  "unchosen-model": "Model not chosen",
  "other-preferences": "Preferences of another driver",
  "same-name": "Duplicate name",
  "same-address": "Duplicate address",
};

const printerStates = [
  ["changed", "Changed since last download"],
  ["vendor-driver", "Needs a vendor’s driver"],
] as const;

/** The choices in the state select besides states: those that only this list has, and kinds of findings. */
const stateChoices: Record<NarrowedPage, StateChoices | undefined> = {
  printers: { others: printerStates, kinds: findingKinds },
  packages: { others: printerStates, kinds: findingKinds.filter((kind) => kind !== "no-driver") },
  drivers: {
    others: [
      ["newer", "Newer version available"],
      ["unused", "Unused"],
    ],
    kinds: ["unchosen-model", "lost-model", "incomplete", "missing-files", "unsigned", "archive"],
  },
  clients: undefined,
};

interface StateChoices {
  readonly others: readonly (readonly [state: WantedState, label: string])[];
  readonly kinds: readonly FindingKind[];
}

/** The state or finding by which a list is filtered, if its rows show their reasons in full. */
export function shownReason({ state }: Narrowing): WantedState | undefined {
  return ["blocked", "attention", ...findingKinds].find((known) => known === state) as
    | WantedState
    | undefined;
}

/** The URL of a filtered list. */
export function narrowedPath(path: string, narrowing: Narrowing): string {
  const query = narrowingQuery(narrowing);
  return query === "" ? path : `${path}?${query}`;
}

/** The query string of a filtered list, without the question mark. */
export function narrowingQuery({ q, client, state, sort }: Narrowing): string {
  const query = new URLSearchParams();
  if (q !== "") query.set("q", q);
  if (client !== undefined) query.set("client_id", String(client));
  if (state !== undefined) query.set("state", state);
  if (sort !== undefined) query.set("sort", sort);
  return query.toString();
}

/** The filter form above a list. htmx reloads the list while the user types. */
export function narrowingForm(name: NarrowedPage, list: NarrowedList, clients?: readonly ClientName[]): Html {
  const { narrowing } = list;
  const path = paths[name];
  const id = idPrefixOf(name);
  return html`<form class="narrowing" method="get" action="${path}" role="search" aria-label="Filter the list"
    hx-get="${path}" hx-trigger="input changed delay:200ms from:find [type=search], change from:(.narrowing select), submit" hx-sync="this:replace"
    hx-target="#${id}-list" hx-select="#${id}-list" hx-swap="outerHTML" hx-select-oob="#${id}-count:innerHTML">
    <label class="visually-hidden" for="narrow-q">Filter the list</label>
    <input id="narrow-q" type="search" name="q" value="${narrowing.q}" maxlength="${maxQuery}" autocomplete="off"
      placeholder="Filter">
    ${clients && clientSelect(clients, narrowing)}${stateSelect(stateChoices[name], narrowing)}
    <noscript><button>Filter</button></noscript>
    ${narrowing.sort && html`<input type="hidden" name="sort" value="${narrowing.sort}">`}
    ${narrowedCount(name, list)}</form>`;
}

/** The list has the id `printer-list`, its row count `printer-count`; the other pages likewise. */
function idPrefixOf(name: NarrowedPage): string {
  return name.slice(0, -1);
}

function totalText(name: NarrowedPage, total: number): string {
  return counted(total, name === "packages" ? "printer" : idPrefixOf(name));
}

/** `5 of 60 printers`. @param oob true: an out-of-band part of a fragment */
export function narrowedCount(name: NarrowedPage, list: NarrowedList, oob = false): Html {
  const { rows, narrowing, total } = list;
  const all = totalText(name, total);
  const text = isNarrowed(narrowing)
    ? html`${count(rows.length)} of ${all} <a href="${paths[name]}">Show all</a>`
    : all;
  return html`<p id="${idPrefixOf(name)}-count" class="soft" role="status" ${oob && html`hx-swap-oob="innerHTML"`}>${text}</p>`;
}

/** Shown instead of a filtered list without rows. */
export function nothingMatches(name: NarrowedPage, { narrowing, total }: NarrowedList): Html {
  const sentence =
    narrowing.q === "" ? "Nothing matches." : html`Nothing matches “<bdi>${narrowing.q}</bdi>”.`;
  return emptyState(
    sentence,
    html`<a class="button" href="${paths[name]}">Show all ${totalText(name, total)}</a>`,
  );
}

function clientSelect(clients: readonly ClientName[], { client }: Narrowing): Html {
  const options = clients.map(({ id, name }) => option(String(id), name, id === client));
  return html`<label class="visually-hidden" for="narrow-client">Client</label>
    <select id="narrow-client" name="client_id">${option("", "All clients", client === undefined)}${options}
      ${option("none", "No client", client === "none")}</select>`;
}

function stateSelect(choices: StateChoices | undefined, { state }: Narrowing): Html | undefined {
  if (choices === undefined) return undefined;
  const { others, kinds } = choices;
  return html`<label class="visually-hidden" for="narrow-state">State</label>
    <select id="narrow-state" name="state">${option("", "All states", state === undefined)}
      ${states.map((known) => option(known, stateWord(known), state === known))}
      ${others.map(([other, label]) => option(other, label, state === other))}
      <optgroup label="Reason">${kinds.map((kind) => option(kind, findingKindLabels[kind], state === kind))}</optgroup></select>`;
}

function option(value: string, label: string, isChosen: boolean): Html {
  return html`<option value="${value}" ${isChosen && html`selected`}>${label}</option>`;
}
