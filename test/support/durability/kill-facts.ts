import type { AcknowledgedChanges } from "../audit/audit-state.ts";
import type { Rows } from "./disk-state.ts";
import type { Tally } from "./kill-tally.ts";

/** Whether something must exist after a kill; `maybe` when the write was not answered. */
export type Fact = "there" | "gone" | "maybe";

/** The records of one write. They exist all or not at all. */
export interface Made {
  readonly kind: "client" | "printer" | "driver" | "account" | "token" | "session";
  readonly keys: readonly string[];
  /** The only sender that changes it. */
  readonly sender: number;
  /** Keys that were added later and are deleted with it. */
  readonly attached: Set<string>;
  /** The cookie of a session. */
  readonly cookie?: string;
}

export interface Harness {
  readonly random: (bound: number) => number;
  readonly facts: Map<string, Fact>;
  readonly made: Made[];
  readonly acknowledgedChanges: AcknowledgedChanges;
  /** The keys of each unanswered write. Later reads resolve their facts. */
  readonly openWrites: Set<readonly string[]>;
  /** The ids of records at the last start, by key. */
  ids: ReadonlyMap<string, number>;
  count: number;
  /** Whether users sign in with passwords; otherwise a proxy names them. */
  readonly hasPasswords: boolean;
  /** Users with a one-time password, by name, with their cookie once they have signed in. */
  readonly owners: Map<string, { readonly password: string; readonly cookie?: string }>;
  /** Sent with each request. */
  headers: Record<string, string>;
  /** Aborts the requests of an ended life: an interrupted upload might wait forever. */
  signal: AbortSignal;
  /** Refused requests. There should be none. */
  readonly refusals: string[];
  readonly tally: Tally;
  /** The number of acknowledged writes. */
  writes: number;
}

/** Keys of all existing records, such as `printer NAME`, with their ids. */
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

/** Compares the facts with the existing records, and resolves unanswered writes. @returns the problems */
export function resolveFacts(harness: Harness, existing: ReadonlyMap<string, number>): string[] {
  const { facts, openWrites } = harness;
  const halves = [...openWrites].filter((keys) => {
    const found = keys.filter((key) => existing.has(key)).length;
    return found !== 0 && found !== keys.length;
  });
  const wrong = halves.map((keys) => `half-made: ${keys.join()}`);
  for (const [key, fact] of facts) {
    const exists = existing.has(key);
    if (fact === "there" && !exists) wrong.push(`lost: ${key}`);
    if (fact === "gone" && exists) wrong.push(`came back: ${key}`);
    facts.set(key, exists ? "there" : "gone");
  }
  openWrites.clear();
  harness.ids = existing;
  return wrong;
}
