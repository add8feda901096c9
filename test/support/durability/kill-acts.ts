import assert from "node:assert/strict";
import { client } from "../app.ts";
import { AcknowledgedChanges } from "../audit/audit-state.ts";
import { sha256Of } from "../backup/backup.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import { makePng } from "../printers/png.ts";
import type { Rows } from "./disk-state.ts";

/** Whether something must exist after a kill; `maybe` when the write was not answered. */
type Fact = "there" | "gone" | "maybe";
type Kind = "client" | "printer" | "driver" | "account" | "token";

/** The records of one write. They exist all or not at all. */
interface Made {
  readonly kind: Kind;
  readonly keys: readonly string[];
  /** The only sender that changes it. */
  readonly sender: number;
}

type Ask = (site: ReturnType<typeof client>) => Promise<Response>;

interface Write {
  /** The kind of write, for the counts. */
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
  /** Sends requests to the service in this life. */
  site = client("");
  /** Refused requests. There should be none. */
  readonly refusals: string[] = [];
  /** The number of acknowledged writes of each kind. */
  readonly acknowledged: Map<string, number>;
  /** The number of all of them. */
  writes = 0;
  readonly random: (bound: number) => number;

  constructor(random: Harness["random"], acknowledged: Harness["acknowledged"]) {
    this.random = random;
    this.acknowledged = acknowledged;
  }

  /** Sends one write. It counts as acknowledged when the whole answer arrived. @returns the answer's text */
  async write({ what, keys, fact, changes = [], ask }: Write): Promise<string> {
    for (const key of keys) this.facts.set(key, "maybe");
    this.openWrites.add(keys);
    const answer = await ask(this.site);
    const text = await answer.text();
    assert.ok(answer.status < 400, `${what}: ${answer.status} ${text}`);
    this.openWrites.delete(keys);
    for (const key of keys) this.facts.set(key, fact);
    for (const change of changes) this.acknowledgedChanges.add(change);
    this.writes++;
    this.acknowledged.set(what, (this.acknowledged.get(what) ?? 0) + 1);
    return text;
  }

  /** Makes records that only their sender changes later. @param changes by default each record is logged as created */
  make(sender: number, kind: Kind, names: readonly string[], ask: Ask, changes?: readonly string[]) {
    const keys = names.map((name) => `${kind} ${name}`);
    this.made.push({ kind, keys, sender });
    const created = changes ?? keys.map((key) => `created ${key}`);
    return this.write({ what: `a new ${kind}`, keys, fact: "there", changes: created, ask });
  }

  /** One of the sender's records that existed when the service started and still exist. */
  anyOwn(sender: number, kind?: Kind): Made | undefined {
    const all = this.made.filter((one) => {
      const [key = ""] = one.keys;
      const isKind = kind === undefined || one.kind === kind;
      return one.sender === sender && isKind && this.exists(key) && this.ids.has(key);
    });
    return all[this.random(Math.max(1, all.length))];
  }

  exists(key: string): boolean {
    return this.facts.get(key) === "there";
  }

  idOf({ keys: [key = ""] }: Made): number {
    return this.ids.get(key) ?? 0;
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
  const { clients, printers, drivers, accounts, tokens, icons } = rows;
  const printerNames = new Map(printers.map(({ id, name }) => [id, name]));
  const keys: readonly (readonly [string, unknown])[] = [
    ...Object.entries({ client: clients, printer: printers, account: accounts, token: tokens }).flatMap(
      ([kind, all]) => all.map(({ id, name }) => [`${kind} ${name}`, id] as const),
    ),
    ...drivers.map(({ id, sha256 }) => [`driver ${sha256}`, id] as const),
    ...icons.map(({ printer_id: id }) => [`icon ${printerNames.get(id)}`, id] as const),
  ];
  return new Map(keys.map(([key, id]) => [key, Number(id)]));
}

/** Something that a sender does. */
type Act = (harness: Harness, sender: number) => Promise<unknown>;

/** The key of a printer's icon. */
const iconOf = (printer = "") => printer.replace("printer", "icon");

/** Adds one record by posting a form. */
const adding =
  (kind: Kind, path: string, fields: Record<string, string> = {}): Act =>
  (harness, sender) => {
    const name = `${kind}${harness.count++}`;
    return harness.make(sender, kind, [name], ({ post }) => post(path, { name, ...fields }));
  };

const addPrinters: Act = (harness, sender) => {
  const names = Array.from({ length: 1 + harness.random(20) }, () => `P${harness.count++}`);
  const text = `name,address\n${names.map((name) => `${name},10.0.0.1\n`).join("")}`;
  return harness.make(sender, "printer", names, ({ post }) => post("/import", { text }));
};

/** Its entry in the audit log is not checked, because all drivers have the same name. */
const addDriver: Act = (harness, sender) => {
  const zip = driverZip({ version: `1.${harness.count++}` });
  return harness.make(sender, "driver", [sha256Of(zip)], ({ upload }) => upload("/drivers/upload", zip), []);
};

/** An act on any record of the sender that has this kind. */
const onOwn =
  (kind: Kind | undefined, act: (harness: Harness, one: Made) => Promise<unknown>): Act =>
  async (harness, sender) => {
    const one = harness.anyOwn(sender, kind);
    if (one !== undefined) await act(harness, one);
  };

/** Adds an icon to the first printer of an import, or deletes it. */
const changeIcon = onOwn("printer", (harness, printer) => {
  const path = `/printers/${harness.idOf(printer)}/icon`;
  const key = iconOf(printer.keys[0]);
  const png = makePng(256, 256, harness.count++);
  const [what, fact, event] = harness.exists(key)
    ? (["a deleted icon", "gone", "deleted"] as const)
    : (["an icon", "there", "created"] as const);
  const ask: Ask = ({ fetch, upload }) =>
    fact === "gone" ? fetch(path, { method: "DELETE" }) : upload(path, png, "icon.png");
  return harness.write({ what, keys: [key], fact, changes: [`${event} ${key}`], ask });
});

/** Deletes a record that only this sender changes. Then it undoes the deletion, makes it final, or does nothing. */
async function remove(harness: Harness, one: Made): Promise<void> {
  const { kind } = one;
  const id = harness.idOf(one);
  const icons = kind === "printer" ? one.keys.map(iconOf) : [];
  const keys = [...one.keys, ...icons.filter((key) => harness.exists(key))];
  const ids = one.keys.map((key) => harness.ids.get(key)).join();
  // All drivers have the same name.
  const changesOf = (event: string) => (kind === "driver" ? [] : one.keys.map((key) => `${event} ${key}`));
  const ask: Ask = ({ fetch, post }) => {
    if (kind === "printer") return post("/printers/bulk", { action: "delete", ids });
    if (kind === "token") return post(`/tokens/${id}/delete`, {});
    return fetch(`/${kind}s/${id}`, { method: "DELETE" });
  };
  const deleting = { what: `a deleted ${kind}`, keys, fact: "gone", changes: changesOf("deleted") } as const;
  const text = await harness.write({ ...deleting, ask });
  const deletion = /\/deletions\/(\d+)\/undo/.exec(text)?.[1];
  const next = deletion === undefined ? 2 : harness.random(3);
  if (next === 0)
    await harness.write({
      ...{ what: `a restored ${kind}`, keys, fact: "there", changes: changesOf("restored") },
      ask: ({ post }) => post(`/deletions/${deletion}/undo`, {}),
    });
  if (next === 1)
    await harness.write({
      ...{ what: "a final deletion", keys: [], fact: "gone" },
      ask: ({ fetch }) => fetch(`/deletions/${deletion}`, { method: "DELETE" }),
    });
}

/** Acts with their relative frequency, in most lives and in those for uploads, which take long. */
const acts: Readonly<Record<"quick" | "drivers", readonly (readonly [number, Act])[]>> = {
  quick: [
    [6, adding("client", "/clients")],
    [1, addDriver],
    [4, addPrinters],
    [6, changeIcon],
    [2, adding("token", "/tokens", { scope: "read", days: "30" })],
    [2, adding("account", "/accounts", { role: "viewer" })],
    [9, onOwn(undefined, remove)],
  ],
  drivers: [
    [2, addDriver],
    [2, onOwn("driver", remove)],
  ],
};

/** Sends one write after another until the service is killed. */
export async function send(harness: Harness, sender: number, life: keyof typeof acts): Promise<void> {
  const all = acts[life].flatMap(([often, act]) => Array.from({ length: often }, () => act));
  try {
    for (;;) await all[harness.random(all.length)]?.(harness, sender);
  } catch (error) {
    if (error instanceof assert.AssertionError) harness.refusals.push(error.message);
  }
}
