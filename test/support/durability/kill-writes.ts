import assert from "node:assert/strict";
import { client } from "../app.ts";
import type { Fact, Harness, Made } from "./kill-facts.ts";

type Site = ReturnType<typeof client>;
export type Ask = (site: Site) => Promise<Response>;
export type Act = (url: string, harness: Harness, sender: number) => Promise<void>;

interface Write {
  /** What is done, for the count of it. */
  readonly what: string;
  /** What is there or gone by it, all of it or nothing. */
  readonly keys: readonly string[];
  readonly fact: Exclude<Fact, "maybe">;
  /** What the audit log says of it, as `created client Contoso`. */
  readonly told: readonly string[];
  readonly ask: Ask;
}

/** Does one write: it counts when the whole answer is there. */
export async function write(url: string, harness: Harness, { what, keys, fact, told, ask }: Write) {
  for (const key of keys) harness.facts.set(key, "maybe");
  harness.together.add(keys);
  const answer = await ask(client(url, harness.headers, harness.signal));
  const text = await answer.text();
  assert.ok(answer.status < 400, `${what}: ${answer.status} ${text}`);
  harness.together.delete(keys);
  for (const key of keys) harness.facts.set(key, fact);
  for (const change of told) harness.told.add(change);
  countWrite(harness, what);
  return { answer, text };
}

/** Makes something that its sender has to itself from then on. */
export function make(
  url: string,
  harness: Harness,
  made: Pick<Made, "kind" | "keys" | "sender">,
  ask: Ask,
  told: readonly string[] = made.keys.map((key) => `created ${key}`),
) {
  harness.made.push({ ...made, also: new Set() });
  return write(url, harness, { what: `a new ${made.kind}`, keys: made.keys, fact: "there", told, ask });
}

/** What a sender made, and had when the service started. */
export function mine(harness: Harness, sender: number, kind?: Made["kind"]): Made[] {
  const { made, facts, ids } = harness;
  return made.filter((one) => {
    const [key = ""] = one.keys;
    const isKind = kind === undefined || one.kind === kind;
    return one.sender === sender && isKind && facts.get(key) === "there" && ids.has(key);
  });
}

export function oneOfMine(harness: Harness, sender: number, kind?: Made["kind"]): Made | undefined {
  const all = mine(harness, sender, kind);
  return all[harness.random(Math.max(1, all.length))];
}

export const isThere = ({ facts }: Harness, key: string) => facts.get(key) === "there";
export const idOf = ({ ids }: Harness, { keys: [key = ""] }: Made) => ids.get(key) ?? 0;
export const nameOf = ({ keys: [key = ""] }: Made) => key.slice(key.indexOf(" ") + 1);

export function countWrite(harness: Harness, what: string): void {
  const { acknowledged } = harness.tally;
  harness.writes++;
  acknowledged.set(what, (acknowledged.get(what) ?? 0) + 1);
}
