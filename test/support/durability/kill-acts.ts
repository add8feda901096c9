import assert from "node:assert/strict";
import { adminPassword, cookiesOf, ownPassword } from "../access/people.ts";
import { client } from "../app.ts";
import { sha256Of } from "../backup/backup.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import { makePng } from "../printers/png.ts";
import type { Ask, Harness, Kind, Made } from "./kill-harness.ts";

/** Something that a sender does. */
type Act = (harness: Harness, sender: number) => Promise<unknown>;

const nameOf = ({ keys: [key = ""] }: Made) => key.slice(key.indexOf(" ") + 1);

const addClient: Act = (harness, sender) => {
  const name = `C${harness.count++}`;
  return harness.make(sender, "client", [name], ({ post }) => post("/clients", { name }));
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

const addToken: Act = (harness, sender) => {
  const name = `T${harness.count++}`;
  const form = { name, scope: "read", days: "30" };
  return harness.make(sender, "token", [name], ({ post }) => post("/tokens", form));
};

const oneTimePasswordIn = (page: string) => /id="one-time-password">([a-z0-9-]+)</.exec(page)?.[1] ?? "";

/** With a proxy, accounts have no password and nothing is hashed. */
const addAccount: Act = async (harness, sender) => {
  const name = `a${harness.count++}`;
  const ask: Ask = ({ post }) => post("/accounts", { name, role: "viewer" });
  const text = await harness.make(sender, "account", [name], ask);
  if (harness.hasPasswords) harness.owners.set(name, { password: oneTimePasswordIn(text) });
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
  const key = `icon ${nameOf(printer)}`;
  printer.attached.add(key);
  const png = makePng(256, 256, harness.count++);
  return harness.write(
    harness.exists(key)
      ? {
          ...{ what: "a deleted icon", keys: [key], fact: "gone", changes: [`deleted ${key}`] },
          ask: ({ fetch }) => fetch(path, { method: "DELETE" }),
        }
      : {
          ...{ what: "an icon", keys: [key], fact: "there", changes: [`created ${key}`] },
          ask: ({ upload }) => upload(path, png, "icon.png"),
        },
  );
});

const endLinks = onOwn("printer", (harness, printer) => {
  const id = harness.idOf(printer);
  let generation = 1;
  while (harness.exists(`links printer ${id} ${generation}`)) generation++;
  return harness.write({
    ...{ what: "links that end", keys: [`links printer ${id} ${generation}`], fact: "there" },
    changes: [`links-ended printer ${nameOf(printer)}`],
    ask: ({ post }) => post(`/printers/${id}/links/end`, {}),
  });
});

const disableOrEnable = onOwn("account", (harness, account) => {
  const key = `disabled ${nameOf(account)}`;
  account.attached.add(key);
  const [fact, verb] = harness.exists(key) ? (["gone", "enable"] as const) : (["there", "disable"] as const);
  return harness.write({
    ...{ what: `an account to ${verb}`, keys: [key], fact, changes: [`changed account ${nameOf(account)}`] },
    ask: ({ post }) => post(`/accounts/${harness.idOf(account)}/${verb}`, {}),
  });
});

/** Deletes a record that only this sender changes. Then it undoes the deletion, makes it final, or does nothing. */
async function remove(harness: Harness, one: Made): Promise<void> {
  if (one.kind === "session") return endSession(harness, one);
  const { kind } = one;
  const id = harness.idOf(one);
  const keys = [...one.keys, ...[...one.attached].filter((key) => harness.exists(key))];
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

/** For each sender. The service keeps at most 20 sessions of an account. */
const maxSessions = 3;

/** Adds a session of the administrator, or ends the oldest one when there are too many. */
const signIn: Act = async (harness, sender): Promise<void> => {
  const sessions = harness.own(sender, "session");
  if (sessions.length >= maxSessions) return endSession(harness, sessions[0] as Made);
  const cookie = await newSession(harness.url);
  const keys = [sessionKey(cookie)];
  harness.made.push({ kind: "session", keys, sender, attached: new Set(), cookie });
  harness.facts.set(keys[0] ?? "", "there");
  harness.countWrite("a session");
};

/** Signs the administrator in, or somebody else. @returns the session's cookie */
export async function newSession(url: string, name = "admin", password = adminPassword): Promise<string> {
  const answer = await client(url).post("/sign-in", { name, password });
  assert.equal(answer.status, 303, await answer.text());
  return cookiesOf(answer);
}

/** The key of a session, made from the digest of its cookie. */
export const sessionKey = (cookies: string) =>
  `session ${sha256Of(/(?:^|; )platen=([^;]*)/.exec(cookies)?.[1] ?? "")}`;

async function endSession(harness: Harness, { keys, cookie = "" }: Made): Promise<void> {
  const ask = () => client(harness.url, { cookie }).post("/sign-out", {});
  await harness.write({ what: "an ended session", keys, fact: "gone", ask });
}

const giveOneTimePassword = onOwn("account", async (harness, account) => {
  const name = nameOf(account);
  const key = `password ${name}`;
  account.attached.add(key);
  harness.owners.delete(name);
  const text = await harness.write({
    ...{ what: "a one-time password", keys: [key], fact: "gone", changes: [`changed account ${name}`] },
    ask: ({ post }) => post(`/accounts/${harness.idOf(account)}/password`, {}),
  });
  harness.owners.set(name, { password: oneTimePasswordIn(text) });
});

/** Signs a user in with a one-time password; a later call, possibly in a later life, chooses a new password. */
const chooseOwnPassword: Act = async (harness, sender) => {
  const { owners, url } = harness;
  const account = harness.own(sender, "account").find((one) => owners.has(nameOf(one)));
  if (account === undefined) return;
  const name = nameOf(account);
  const { password = "", cookie } = owners.get(name) ?? {};
  if (cookie === undefined) {
    owners.set(name, { password, cookie: await newSession(url, name, password) });
    harness.countWrite("a session of somebody else");
    return;
  }
  const key = `password ${name}`;
  account.attached.add(key);
  owners.delete(name);
  const form = { password, chosen: ownPassword, again: ownPassword };
  await harness.write({
    ...{ what: "a chosen password", keys: [key], fact: "there", changes: [`changed account ${name}`] },
    ask: () => client(url, { cookie }).post("/sign-in/password", form),
  });
};

/** The kind of writes that the service gets in one of its lives. */
export type LifeKind = "quick" | "drivers" | "passwords";

/** Acts with their relative frequency. Slow acts have their own kinds of lives, because a life of quick acts ends too early for them. */
const actsByLife: Record<LifeKind, readonly (readonly [number, Act])[]> = {
  quick: [
    [6, addClient],
    [1, addDriver],
    [4, addPrinters],
    [6, changeIcon],
    [2, addToken],
    [2, endLinks],
    [2, addAccount],
    [3, disableOrEnable],
    [9, onOwn(undefined, remove)],
  ],
  drivers: [
    [2, addDriver],
    [2, onOwn("driver", remove)],
  ],
  // These hash passwords, which takes a third of a second.
  passwords: [
    [2, addAccount],
    [2, giveOneTimePassword],
    [4, chooseOwnPassword],
    [2, signIn],
    [1, onOwn("session", remove)],
  ],
};

/** Sends one write after another until the service is killed. */
export async function send(harness: Harness, sender: number, sort: LifeKind): Promise<void> {
  const acts = actsByLife[sort].flatMap(([often, act]) => Array.from({ length: often }, () => act));
  try {
    for (;;) await acts[harness.random(acts.length)]?.(harness, sender);
  } catch (error) {
    if (error instanceof assert.AssertionError) harness.refusals.push(error.message);
  }
}
