import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { client } from "./app.ts";
import type { Harness, Made } from "./kill-facts.ts";
import { type Act, type Ask, idOf, isThere, make, mine, nameOf, oneOfMine, write } from "./kill-writes.ts";
import { adminPassword, cookiesOf, ownPassword } from "./people.ts";

/** Of sessions each sender has so many at most: of an account the service keeps twenty. */
const mostSessions = 3;

/** What hashes passwords takes a third of a second. */
export const withPasswords: readonly (readonly [number, Act])[] = [
  [1, addAccount],
  [1, changePassword],
  [2, disableOrEnable],
  [1, signIn],
];
async function addAccount(url: string, harness: Harness, sender: number): Promise<void> {
  const name = `a${harness.count++}`;
  const made = { kind: "account", keys: [`account ${name}`], sender } as const;
  await make(url, harness, made, ({ post }) => post("/accounts", { name, role: "viewer" }));
}

/** A session of the administrator's; the oldest one of too many ends. */
async function signIn(url: string, harness: Harness, sender: number): Promise<void> {
  const sessions = mine(harness, sender, "session");
  if (sessions.length >= mostSessions) return endSession(url, harness, sessions[0] as Made);
  const cookie = await newSession(url);
  const keys = [sessionKey(cookie)];
  harness.made.push({ kind: "session", keys, sender, also: new Set(), cookie });
  harness.facts.set(keys[0] ?? "", "there");
  harness.acknowledged.set("a session", (harness.acknowledged.get("a session") ?? 0) + 1);
}

/** Signs the administrator in. @returns the session's cookie */
export async function newSession(url: string): Promise<string> {
  const answer = await client(url).post("/sign-in", { name: "admin", password: adminPassword });
  const text = await answer.text();
  // One person has two attempts under way at most, and here come four.
  if (text.includes("attempts came at once")) return newSession(url);
  assert.equal(answer.status, 303, text);
  return cookiesOf(answer);
}

/** Of the digest of what the cookie holds. */
export function sessionKey(cookies: string): string {
  return `session ${createHash("sha256")
    .update(/(?:^|; )platen=([^;]*)/.exec(cookies)?.[1] ?? "")
    .digest("hex")}`;
}

export async function endSession(url: string, harness: Harness, { keys, cookie = "" }: Made): Promise<void> {
  const ask = () => client(url, { cookie }).post("/sign-out", {});
  await write(url, harness, { what: "an ended session", keys, fact: "gone", told: [], ask });
}

async function disableOrEnable(url: string, harness: Harness, sender: number): Promise<void> {
  const account = oneOfMine(harness, sender, "account");
  if (account === undefined) return;
  const key = `disabled ${nameOf(account)}`;
  account.also.add(key);
  const [fact, verb] = isThere(harness, key)
    ? (["gone", "enable"] as const)
    : (["there", "disable"] as const);
  const ask: Ask = ({ post }) => post(`/accounts/${idOf(harness, account)}/${verb}`, {});
  const told = [`changed account ${nameOf(account)}`];
  await write(url, harness, { what: `an account to ${verb}`, keys: [key], fact, told, ask });
}

/** Gives an account a one-time password; its owner chooses another one, unless they may not sign in. */
async function changePassword(url: string, harness: Harness, sender: number): Promise<void> {
  const account = oneOfMine(harness, sender, "account");
  if (account === undefined) return;
  const name = nameOf(account);
  const keys = [`password ${name}`];
  account.also.add(keys[0] ?? "");
  const told = [`changed account ${name}`];
  const { text } = await write(url, harness, {
    ...{ what: "a one-time password", keys, fact: "gone", told },
    ask: ({ post }) => post(`/accounts/${idOf(harness, account)}/password`, {}),
  });
  if (isThere(harness, `disabled ${name}`)) return;
  const password = /id="one-time-password">([a-z0-9-]+)</.exec(text)?.[1] ?? "";
  const signedIn = await client(url).post("/sign-in", { name, password });
  assert.equal(signedIn.status, 303, await signedIn.text());
  const own = client(url, { cookie: cookiesOf(signedIn) });
  const form = { password, chosen: ownPassword, again: ownPassword };
  const ask = () => own.post("/sign-in/password", form);
  await write(url, harness, { what: "a password of one's own", keys, fact: "there", told, ask });
}
