import assert from "node:assert/strict";
import { client } from "../app.ts";
import { AcknowledgedChanges } from "../audit/audit-state.ts";
import type { Rows } from "./disk-state.ts";
import type { Tally } from "./kill-tally.ts";

/** Whether something must exist after a kill; `maybe` when the write was not answered. */
type Fact = "there" | "gone" | "maybe";
export type Kind = "client" | "printer" | "driver" | "account" | "token" | "session";

/** The records of one write. They exist all or not at all. */
export interface Made {
  readonly kind: Kind;
  readonly keys: readonly string[];
  /** The only sender that changes it. */
  readonly sender: number;
  /** Keys that were added later and are deleted with it. */
  readonly attached: Set<string>;
  /** The cookie of a session. */
  readonly cookie?: string;
}

export type Ask = (site: ReturnType<typeof client>) => Promise<Response>;

interface Write {
  /** The kind of write, for the tally. */
  readonly what: string;
  /** The keys that it adds or deletes together. */
  readonly keys: readonly string[];
  readonly fact: Exclude<Fact, "maybe">;
  /** The changes that the audit log must have, such as `created client Contoso`. */
  readonly changes?: readonly string[];
  readonly ask: Ask;
}

/** What the senders know of the service in all of its lives. */
export class Harness {
  readonly facts = new Map<string, Fact>();
  readonly made: Made[] = [];
  readonly acknowledgedChanges = new AcknowledgedChanges();
  /** The keys of each unanswered write. Later reads resolve their facts. */
  readonly openWrites = new Set<readonly string[]>();
  /** The ids of records at the last start, by key. */
  ids: ReadonlyMap<string, number> = new Map();
  count = 0;
  /** Users with a one-time password, by name, with their cookie once they have signed in. */
  readonly owners = new Map<string, { readonly password: string; readonly cookie?: string }>();
  /** The address of the service in this life. */
  url = "";
  /** Aborts the requests of an ended life: an interrupted upload might wait forever. */
  signal = new AbortController().signal;
  /** Refused requests. There should be none. */
  readonly refusals: string[] = [];
  /** The number of acknowledged writes. */
  writes = 0;
  readonly random: (bound: number) => number;
  /** Sent with each request. */
  headers: Record<string, string>;
  /** Whether users sign in with passwords; otherwise a proxy names them. */
  readonly hasPasswords: boolean;
  readonly tally: Tally;

  constructor(
    random: Harness["random"],
    tally: Tally,
    { hasPasswords, headers }: Pick<Harness, "hasPasswords" | "headers">,
  ) {
    this.random = random;
    this.tally = tally;
    this.hasPasswords = hasPasswords;
    this.headers = headers;
  }

  /** Sends one write. It counts as acknowledged when the whole answer arrived. @returns the answer's text */
  async write({ what, keys, fact, changes = [], ask }: Write): Promise<string> {
    for (const key of keys) this.facts.set(key, "maybe");
    this.openWrites.add(keys);
    const answer = await ask(client(this.url, this.headers, this.signal));
    const text = await answer.text();
    assert.ok(answer.status < 400, `${what}: ${answer.status} ${text}`);
    this.openWrites.delete(keys);
    for (const key of keys) this.facts.set(key, fact);
    for (const change of changes) this.acknowledgedChanges.add(change);
    this.countWrite(what);
    return text;
  }

  /** Makes records that only their sender changes later. @param changes by default each record is logged as created */
  make(sender: number, kind: Kind, names: readonly string[], ask: Ask, changes?: readonly string[]) {
    const keys = names.map((name) => `${kind} ${name}`);
    this.made.push({ kind, keys, sender, attached: new Set() });
    const created = changes ?? keys.map((key) => `created ${key}`);
    return this.write({ what: `a new ${kind}`, keys, fact: "there", changes: created, ask });
  }

  /** The sender's records that existed when the service started and still exist. */
  own(sender: number, kind?: Kind): Made[] {
    return this.made.filter((one) => {
      const [key = ""] = one.keys;
      const isKind = kind === undefined || one.kind === kind;
      return one.sender === sender && isKind && this.exists(key) && this.ids.has(key);
    });
  }

  anyOwn(sender: number, kind?: Kind): Made | undefined {
    const all = this.own(sender, kind);
    return all[this.random(Math.max(1, all.length))];
  }

  exists(key: string): boolean {
    return this.facts.get(key) === "there";
  }

  idOf({ keys: [key = ""] }: Made): number {
    return this.ids.get(key) ?? 0;
  }

  countWrite(what: string): void {
    const { acknowledged } = this.tally;
    this.writes++;
    acknowledged.set(what, (acknowledged.get(what) ?? 0) + 1);
  }

  /** Compares the facts with the existing records, and resolves unanswered writes. @returns the problems */
  resolveFacts(existing: ReadonlyMap<string, number>): string[] {
    const halves = [...this.openWrites].filter((keys) => {
      const found = keys.filter((key) => existing.has(key)).length;
      return found !== 0 && found !== keys.length;
    });
    const wrong = halves.map((keys) => `half-made: ${keys.join()}`);
    for (const [key, fact] of this.facts) {
      const exists = existing.has(key);
      if (fact === "there" && !exists) wrong.push(`lost: ${key}`);
      if (fact === "gone" && exists) wrong.push(`came back: ${key}`);
      this.facts.set(key, exists ? "there" : "gone");
    }
    this.openWrites.clear();
    this.ids = existing;
    return wrong;
  }
}

/** Keys of all existing records, such as `printer NAME`, with their ids. */
export function keysIn(rows: Rows): Map<string, number> {
  const { clients, printers, drivers, accounts, tokens, sessions, icons, link_generations } = rows;
  const printerNames = new Map(printers.map(({ id, name }) => [id, name]));
  const people = accounts.filter(({ role }) => role !== "admin");
  const keys: readonly (readonly [string, unknown])[] = [
    ...Object.entries({ client: clients, printer: printers, account: accounts, token: tokens }).flatMap(
      ([kind, all]) => all.map(({ id, name }) => [`${kind} ${name}`, id] as const),
    ),
    ...drivers.map(({ id, sha256 }) => [`driver ${sha256}`, id] as const),
    ...sessions.map(({ id, sha256 }) => [`session ${sha256}`, id] as const),
    ...icons.map(({ printer_id: id }) => [`icon ${printerNames.get(id)}`, id] as const),
    ...people.filter((one) => one.disabled === 1).map(({ id, name }) => [`disabled ${name}`, id] as const),
    ...people.filter((one) => one.one_time === 0).map(({ id, name }) => [`password ${name}`, id] as const),
    ...link_generations.flatMap(({ kind, id, generation }) =>
      Array.from({ length: Number(generation) }, (_, i) => [`links ${kind} ${id} ${i + 1}`, i] as const),
    ),
  ];
  return new Map(keys.map(([key, id]) => [key, Number(id)]));
}
