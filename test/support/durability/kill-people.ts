import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { adminPassword, cookiesOf, ownPassword } from "../access/people.ts";
import { client } from "../app.ts";
import type { Harness, Made } from "./kill-facts.ts";
import {
  type Act,
  type Ask,
  countWrite,
  idOf,
  isThere,
  make,
  mine,
  nameOf,
  oneOfMine,
  write,
} from "./kill-writes.ts";

/** Of sessions each sender has so many at most: of an account the service keeps twenty. */
const maxSessions = 3;

/** What hashes passwords takes a third of a second. */
export const withPasswords: readonly (readonly [number, Act])[] = [
  [2, addAccount],
  [2, giveOneTimePassword],
  [4, chooseOwnPassword],
  [2, signIn],
];

/** Where people sign in at a proxy nothing is hashed, and there is no password. */
export async function addAccount(url: string, harness: Harness, sender: number): Promise<void> {
  const name = `a${harness.count++}`;
  const made = { kind: "account", keys: [`account ${name}`], sender } as const;
  const { text } = await make(url, harness, made, ({ post }) => post("/accounts", { name, role: "viewer" }));
  if (harness.hasPasswords) harness.owners.set(name, { password: oneTimePasswordIn(text) });
}

/** A session of the administrator's; the oldest one of too many ends. */
async function signIn(url: string, harness: Harness, sender: number): Promise<void> {
  const sessions = mine(harness, sender, "session");
  if (sessions.length >= maxSessions) return endSession(url, harness, sessions[0] as Made);
  const cookie = await newSession(url);
  const keys = [sessionKey(cookie)];
  harness.made.push({ kind: "session", keys, sender, also: new Set(), cookie });
  harness.facts.set(keys[0] ?? "", "there");
  countWrite(harness, "a session");
}

/** Signs the administrator in. @returns the session's cookie */
export async function newSession(url: string): Promise<string> {
  const answer = await client(url).post("/sign-in", { name: "admin", password: adminPassword });
  assert.equal(answer.status, 303, await answer.text());
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

export async function disableOrEnable(url: string, harness: Harness, sender: number): Promise<void> {
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

const oneTimePasswordIn = (page: string) => /id="one-time-password">([a-z0-9-]+)</.exec(page)?.[1] ?? "";

async function giveOneTimePassword(url: string, harness: Harness, sender: number): Promise<void> {
  const account = oneOfMine(harness, sender, "account");
  if (account === undefined) return;
  const name = nameOf(account);
  const keys = [`password ${name}`];
  account.also.add(keys[0] ?? "");
  harness.owners.delete(name);
  const { text } = await write(url, harness, {
    ...{ what: "a one-time password", keys, fact: "gone", told: [`changed account ${name}`] },
    ask: ({ post }) => post(`/accounts/${idOf(harness, account)}/password`, {}),
  });
  harness.owners.set(name, { password: oneTimePasswordIn(text) });
}

/** Who has a one-time password signs in with it, perhaps in an earlier life, and chooses another one. */
async function chooseOwnPassword(url: string, harness: Harness, sender: number): Promise<void> {
  const account = mine(harness, sender, "account").find((one) => harness.owners.has(nameOf(one)));
  if (account === undefined) return;
  const name = nameOf(account);
  const { password = "", cookie } = harness.owners.get(name) ?? {};
  if (cookie === undefined) {
    const signedIn = await client(url).post("/sign-in", { name, password });
    assert.equal(signedIn.status, 303, await signedIn.text());
    harness.owners.set(name, { password, cookie: cookiesOf(signedIn) });
    countWrite(harness, "a session of somebody else");
    return;
  }
  const keys = [`password ${name}`];
  account.also.add(keys[0] ?? "");
  harness.owners.delete(name);
  const form = { password, chosen: ownPassword, again: ownPassword };
  const ask = () => client(url, { cookie }).post("/sign-in/password", form);
  const told = [`changed account ${name}`];
  await write(url, harness, { what: "a password of one's own", keys, fact: "there", told, ask });
}
