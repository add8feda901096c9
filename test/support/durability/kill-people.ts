import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { adminPassword, cookiesOf, ownPassword } from "../access/people.ts";
import { client } from "../app.ts";
import type { Harness, Made } from "./kill-facts.ts";
import {
  type Act,
  type Ask,
  anyOwnRecord,
  countWrite,
  exists,
  idOf,
  make,
  nameOf,
  ownRecords,
  write,
} from "./kill-writes.ts";

/** For each sender. The service keeps at most 20 sessions of an account. */
const maxSessions = 3;

/** Acts that hash passwords, which takes a third of a second. */
export const withPasswords: readonly (readonly [number, Act])[] = [
  [2, addAccount],
  [2, giveOneTimePassword],
  [4, chooseOwnPassword],
  [2, signIn],
];

/** With a proxy, accounts have no password and nothing is hashed. */
export async function addAccount(url: string, harness: Harness, sender: number): Promise<void> {
  const name = `a${harness.count++}`;
  const made = { kind: "account", keys: [`account ${name}`], sender } as const;
  const { text } = await make(url, harness, made, ({ post }) => post("/accounts", { name, role: "viewer" }));
  if (harness.hasPasswords) harness.owners.set(name, { password: oneTimePasswordIn(text) });
}

/** Adds a session of the administrator, or ends the oldest one when there are too many. */
async function signIn(url: string, harness: Harness, sender: number): Promise<void> {
  const sessions = ownRecords(harness, sender, "session");
  if (sessions.length >= maxSessions) return endSession(url, harness, sessions[0] as Made);
  const cookie = await newSession(url);
  const keys = [sessionKey(cookie)];
  harness.made.push({ kind: "session", keys, sender: sender, attached: new Set(), cookie });
  harness.facts.set(keys[0] ?? "", "there");
  countWrite(harness, "a session");
}

/** Signs the administrator in. @returns the session's cookie */
export async function newSession(url: string): Promise<string> {
  const answer = await client(url).post("/sign-in", { name: "admin", password: adminPassword });
  assert.equal(answer.status, 303, await answer.text());
  return cookiesOf(answer);
}

/** The key of a session, made from the digest of its cookie. */
export function sessionKey(cookies: string): string {
  return `session ${createHash("sha256")
    .update(/(?:^|; )platen=([^;]*)/.exec(cookies)?.[1] ?? "")
    .digest("hex")}`;
}

export async function endSession(url: string, harness: Harness, { keys, cookie = "" }: Made): Promise<void> {
  const ask = () => client(url, { cookie }).post("/sign-out", {});
  await write(url, harness, { what: "an ended session", keys, fact: "gone", changes: [], ask });
}

export async function disableOrEnable(url: string, harness: Harness, sender: number): Promise<void> {
  const account = anyOwnRecord(harness, sender, "account");
  if (account === undefined) return;
  const key = `disabled ${nameOf(account)}`;
  account.attached.add(key);
  const [fact, verb] = exists(harness, key) ? (["gone", "enable"] as const) : (["there", "disable"] as const);
  const ask: Ask = ({ post }) => post(`/accounts/${idOf(harness, account)}/${verb}`, {});
  const changes = [`changed account ${nameOf(account)}`];
  await write(url, harness, { what: `an account to ${verb}`, keys: [key], fact, changes, ask });
}

const oneTimePasswordIn = (page: string) => /id="one-time-password">([a-z0-9-]+)</.exec(page)?.[1] ?? "";

async function giveOneTimePassword(url: string, harness: Harness, sender: number): Promise<void> {
  const account = anyOwnRecord(harness, sender, "account");
  if (account === undefined) return;
  const name = nameOf(account);
  const keys = [`password ${name}`];
  account.attached.add(keys[0] ?? "");
  harness.owners.delete(name);
  const { text } = await write(url, harness, {
    ...{ what: "a one-time password", keys, fact: "gone", changes: [`changed account ${name}`] },
    ask: ({ post }) => post(`/accounts/${idOf(harness, account)}/password`, {}),
  });
  harness.owners.set(name, { password: oneTimePasswordIn(text) });
}

/** Signs a user in with a one-time password; a later call, possibly in a later life, chooses a new password. */
async function chooseOwnPassword(url: string, harness: Harness, sender: number): Promise<void> {
  const account = ownRecords(harness, sender, "account").find((one) => harness.owners.has(nameOf(one)));
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
  account.attached.add(keys[0] ?? "");
  harness.owners.delete(name);
  const form = { password, chosen: ownPassword, again: ownPassword };
  const ask = () => client(url, { cookie }).post("/sign-in/password", form);
  const changes = [`changed account ${name}`];
  await write(url, harness, { what: "a chosen password", keys, fact: "there", changes, ask });
}
