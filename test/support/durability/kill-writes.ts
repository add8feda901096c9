import assert from "node:assert/strict";
import { client } from "../app.ts";
import type { Fact, Harness, Made } from "./kill-facts.ts";

type HttpClient = ReturnType<typeof client>;
export type Ask = (site: HttpClient) => Promise<Response>;
export type Act = (url: string, harness: Harness, sender: number) => Promise<void>;

interface Write {
  /** The kind of write, for the tally. */
  readonly what: string;
  /** The keys that it adds or deletes together. */
  readonly keys: readonly string[];
  readonly fact: Exclude<Fact, "maybe">;
  /** The changes that the audit log must have, such as `created client Contoso`. */
  readonly changes: readonly string[];
  readonly ask: Ask;
}

/** Sends one write. It counts as acknowledged when the whole answer arrived. */
export async function write(url: string, harness: Harness, { what, keys, fact, changes, ask }: Write) {
  for (const key of keys) harness.facts.set(key, "maybe");
  harness.openWrites.add(keys);
  const answer = await ask(client(url, harness.headers, harness.signal));
  const text = await answer.text();
  assert.ok(answer.status < 400, `${what}: ${answer.status} ${text}`);
  harness.openWrites.delete(keys);
  for (const key of keys) harness.facts.set(key, fact);
  for (const change of changes) harness.acknowledgedChanges.add(change);
  countWrite(harness, what);
  return { answer, text };
}

/** Makes records that only their sender changes later. */
export function make(
  url: string,
  harness: Harness,
  made: Pick<Made, "kind" | "keys" | "sender">,
  ask: Ask,
  changes: readonly string[] = made.keys.map((key) => `created ${key}`),
) {
  harness.made.push({ ...made, attached: new Set() });
  return write(url, harness, { what: `a new ${made.kind}`, keys: made.keys, fact: "there", changes, ask });
}

/** The sender's records that existed when the service started and still exist. */
export function ownRecords(harness: Harness, sender: number, kind?: Made["kind"]): Made[] {
  const { made, facts, ids } = harness;
  return made.filter((one) => {
    const [key = ""] = one.keys;
    const isKind = kind === undefined || one.kind === kind;
    return one.sender === sender && isKind && facts.get(key) === "there" && ids.has(key);
  });
}

export function anyOwnRecord(harness: Harness, sender: number, kind?: Made["kind"]): Made | undefined {
  const all = ownRecords(harness, sender, kind);
  return all[harness.random(Math.max(1, all.length))];
}

export const exists = ({ facts }: Harness, key: string) => facts.get(key) === "there";
export const idOf = ({ ids }: Harness, { keys: [key = ""] }: Made) => ids.get(key) ?? 0;
export const nameOf = ({ keys: [key = ""] }: Made) => key.slice(key.indexOf(" ") + 1);

export function countWrite(harness: Harness, what: string): void {
  const { acknowledged } = harness.tally;
  harness.writes++;
  acknowledged.set(what, (acknowledged.get(what) ?? 0) + 1);
}
