import type { Told } from "../audit/audit-state.ts";
import type { Rows } from "./disk-state.ts";
import type { Tally } from "./kill-tally.ts";

/** What must be there after a kill: `maybe` where no answer came. */
export type Fact = "there" | "gone" | "maybe";

/** What was made with one write: it is there whole or not at all. */
export interface Made {
  readonly kind: "client" | "printer" | "driver" | "account" | "token" | "session";
  readonly keys: readonly string[];
  /** Who alone changes it. */
  readonly sender: number;
  /** What came to it since, and goes with it. */
  readonly also: Set<string>;
  /** Of a session. */
  readonly cookie?: string;
}

/** What a harness knows of the service that it kills. */
export interface Harness {
  readonly random: (bound: number) => number;
  readonly facts: Map<string, Fact>;
  readonly made: Made[];
  readonly told: Told;
  /** Keys that one write is about, of each write that is not answered yet: afterwards their facts tell. */
  readonly together: Set<readonly string[]>;
  /** Of records at the last start, by key. */
  ids: ReadonlyMap<string, number>;
  count: number;
  /** Whether people sign in with passwords; else a proxy says who they are. */
  readonly hasPasswords: boolean;
  /** Who has a one-time password, by their names, and the cookie of who has signed in with it. */
  readonly owners: Map<string, { readonly password: string; readonly cookie?: string }>;
  /** Of each request. */
  headers: Record<string, string>;
  /** Ends the requests of a life that is over: an upload that was cut off may never be told so. */
  signal: AbortSignal;
  /** Answers that say no, which none should. */
  readonly refusals: string[];
  readonly tally: Tally;
  /** How many writes were acknowledged by this service. */
  writes: number;
}

/** What is there, as `printer NAME` and the like, with the record's number. */
export function keysIn(rows: Rows): Map<string, number> {
  const { clients, printers, drivers, accounts, tokens, sessions, icons, link_generations } = rows;
  const printerNames = new Map(printers.map(({ id, name }) => [id, name]));
  const named = { client: clients, printer: printers, account: accounts, token: tokens };
  const people = accounts.filter(({ role }) => role !== "admin");
  return new Map([
    ...Object.entries(named).flatMap(([kind, all]) =>
      all.map(({ id, name }) => [`${kind} ${name}`, Number(id)] as const),
    ),
    ...drivers.map(({ id, sha256 }) => [`driver ${sha256}`, Number(id)] as const),
    ...sessions.map(({ id, sha256 }) => [`session ${sha256}`, Number(id)] as const),
    ...icons.map(({ printer_id: id }) => [`icon ${printerNames.get(id)}`, Number(id)] as const),
    ...people.flatMap(({ id, name, disabled, one_time }) => [
      ...(disabled === 1 ? [[`disabled ${name}`, Number(id)] as const] : []),
      ...(one_time === 0 ? [[`password ${name}`, Number(id)] as const] : []),
    ]),
    ...link_generations.flatMap(({ kind, id, generation }) =>
      Array.from({ length: Number(generation) }, (_, i) => [`links ${kind} ${id} ${i + 1}`, i] as const),
    ),
  ]);
}

/** What was not answered is known from now on. @returns what is wrong */
export function settle(harness: Harness, there: ReadonlyMap<string, number>): string[] {
  const { facts, together } = harness;
  const halves = [...together].filter((keys) => {
    const found = keys.filter((key) => there.has(key)).length;
    return found !== 0 && found !== keys.length;
  });
  const wrong = halves.map((keys) => `half-made: ${keys.join()}`);
  for (const [key, fact] of facts) {
    const isThere = there.has(key);
    if (fact === "there" && !isThere) wrong.push(`lost: ${key}`);
    if (fact === "gone" && isThere) wrong.push(`came back: ${key}`);
    facts.set(key, isThere ? "there" : "gone");
  }
  together.clear();
  harness.ids = there;
  return wrong;
}
