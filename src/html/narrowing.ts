import { type FindingKind, states } from "../domain/findings.ts";
import type { ClientName } from "../domain/listings.ts";
import { isNarrowed, maxQuery, type Narrowing, type WantedState } from "../domain/search.ts";
import { type Html, html } from "./html.ts";
import { emptyState } from "./layout.ts";
import { stateWord } from "./standing.ts";
import { count, counted } from "./text.ts";

/** A list that can be narrowed, as its form and its sentences name it. */
interface NarrowedList {
  readonly path: string;
  /** The list has the id `{id}-list`, and where it says how many rows it has, `{id}-count`. */
  readonly id: string;
  /** What its rows are called, in the singular. */
  readonly noun: string;
  readonly narrowing: Narrowing;
  readonly shown: number;
  readonly total: number;
}

interface NarrowingChoices {
  /** Only where rows have clients. */
  readonly clients?: readonly ClientName[];
  /** Only where rows have states: those that no finding is about, with their words, then these kinds of findings. */
  readonly states?: {
    readonly others: readonly (readonly [state: WantedState, label: string])[];
    readonly kinds: readonly FindingKind[];
  };
}

/** What findings are about, as a list is narrowed to them. */
const kindWords: Record<FindingKind, string> = {
  "no-driver": "No driver assigned",
  archive: "Archive missing or damaged",
  incomplete: "INF or model missing",
  "missing-files": "Files missing",
  "lost-model": "Model not in the INF",
  unsigned: "Unsigned",
  "not-for-arm64": "ARM64 driver without ARM64 files",
  "unchosen-model": "Model not chosen",
  "same-name": "One name twice",
  "same-address": "One address twice",
};

/** The address of a list that is narrowed so. */
export function narrowedPath(path: string, narrowing: Narrowing): string {
  const query = narrowingQuery(narrowing);
  return query === "" ? path : `${path}?${query}`;
}

/** What stands behind the question mark of such an address. */
export function narrowingQuery({ q, client, state }: Narrowing): string {
  const query = new URLSearchParams();
  if (q !== "") query.set("q", q);
  if (client !== undefined) query.set("client_id", String(client));
  if (state !== undefined) query.set("state", state);
  return query.toString();
}

/** The form above a list, which scripts bring anew as one types. */
export function narrowingForm(list: NarrowedList, { clients, states }: NarrowingChoices): Html {
  const { path, id, narrowing } = list;
  return html`<form class="narrowing" method="get" action="${path}" role="search" aria-label="Narrow the list"
    hx-get="${path}" hx-trigger="input changed delay:200ms from:find [type=search], change, submit" hx-sync="this:replace"
    hx-target="#${id}-list" hx-select="#${id}-list" hx-swap="outerHTML" hx-select-oob="#${id}-count:innerHTML">
    <label class="visually-hidden" for="narrow-q">Words in the list</label>
    <input id="narrow-q" type="search" name="q" value="${narrowing.q}" maxlength="${maxQuery}" autocomplete="off"
      placeholder="Narrow the list">
    ${clients && clientSelect(clients, narrowing)}
    ${states && stateSelect(states, narrowing)}
    <noscript><button>Narrow</button></noscript>
    ${narrowedCount(list)}</form>`;
}

/** How many of how many rows there are; `oob` where a fragment brings it along. */
export function narrowedCount({ path, id, noun, narrowing, shown, total }: NarrowedList, oob = false): Html {
  const text = isNarrowed(narrowing)
    ? html`${count(shown)} of ${counted(total, noun)} <a href="${path}">Show all</a>`
    : counted(total, noun);
  return html`<p id="${id}-count" class="soft" role="status" ${oob && html`hx-swap-oob="innerHTML"`}>${text}</p>`;
}

/** What a list shows that is narrowed to nothing. */
export function nothingMatches({ path, noun, narrowing, total }: NarrowedList): Html {
  const sentence =
    narrowing.q === "" ? "Nothing matches." : html`Nothing matches “<bdi>${narrowing.q}</bdi>”.`;
  return emptyState(sentence, html`<a class="button" href="${path}">Show all ${counted(total, noun)}</a>`);
}

function clientSelect(clients: readonly ClientName[], { client }: Narrowing): Html {
  const options = clients.map(({ id, name }) => option(String(id), name, id === client));
  return html`<label class="visually-hidden" for="narrow-client">Whose printers</label>
    <select id="narrow-client" name="client_id">${option("", "Any client", client === undefined)}${options}
      ${option("none", "Without a client", client === "none")}</select>`;
}

/** What printers can be besides. */
export const changedState = ["changed", "Changed since downloaded"] as const;

function stateSelect({ others, kinds }: Required<NarrowingChoices>["states"], { state }: Narrowing): Html {
  return html`<label class="visually-hidden" for="narrow-state">In which state</label>
    <select id="narrow-state" name="state">${option("", "Any state", state === undefined)}
      ${states.map((one) => option(one, stateWord(one), state === one))}
      ${others.map(([one, label]) => option(one, label, state === one))}
      <optgroup label="Because">${kinds.map((kind) => option(kind, kindWords[kind], state === kind))}</optgroup></select>`;
}

function option(value: string, label: string, isChosen: boolean): Html {
  return html`<option value="${value}" ${isChosen && html`selected`}>${label}</option>`;
}
