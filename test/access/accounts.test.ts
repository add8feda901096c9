import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Secret } from "../../src/domain/secrets.ts";
import { startGuarded } from "../support/access/guarded.ts";
import {
  addAccount,
  addPerson,
  adminPassword,
  ownPassword,
  signIn,
  signInAdmin,
  startClosed,
} from "../support/access/people.ts";
import { namingProxies } from "../support/access/proxies.ts";
import { type TestApp, temporaryFolder } from "../support/app.ts";

const idOf = ({ app }: TestApp, name: string) => app.store.accounts.findByName(name)?.account.id;

test("disabling, resetting or deleting an account signs it out at once, and enabling it does not sign it in", async (t) => {
  const app = await startClosed(t);
  const admin = { cookie: await signInAdmin(app) };
  const statuses: number[] = [];

  for (const [i, what] of ["disable", "password", "delete"].entries()) {
    const headers = { cookie: await addPerson(app, `jo${i}`) };
    const signInAgain = async () => app.post("/sign-in", { name: `jo${i}`, password: ownPassword });
    await app.post(`/accounts/${idOf(app, `jo${i}`)}/${what}`, {}, admin);
    statuses.push((await app.fetch("/clients", { headers })).status, (await signInAgain()).status);
    await app.post(`/accounts/${idOf(app, `jo${i}`)}/enable`, {}, admin);
    statuses.push((await app.fetch("/clients", { headers })).status, (await signInAgain()).status);
  }

  assert.deepEqual(statuses, [401, 422, 401, 303, 401, 422, 401, 422, 401, 422, 401, 422]);
});

test("a changed role applies at once, and the administrator's account cannot be changed", async (t) => {
  const app = await startClosed(t);
  const admin = { cookie: await signInAdmin(app) };
  const headers = { cookie: await addPerson(app, "jo", "viewer") };
  const ask = async (path: string, fields = {}, sent = admin) => (await app.post(path, fields, sent)).status;

  const before = await ask("/clients", { name: "A" }, headers);
  await ask("/accounts/2", { role: "operator" });
  const after = await ask("/clients", { name: "A" }, headers);
  const asAdmin = await ask("/accounts/2", { role: "admin" });
  const locked = await Promise.all(
    ["disable", "password", "delete"].map((what) => ask(`/accounts/1/${what}`)),
  );

  assert.deepEqual([before, after, asAdmin], [403, 200, 422]);
  assert.deepEqual(locked, [403, 403, 403]);
});

test("a new password in the setting applies from the next start, and ends the administrator's sessions", async (t) => {
  const dataDir = await temporaryFolder(t);
  const first = await startClosed(t, { dataDir });
  const headers = { cookie: await signInAdmin(first) };
  const kept = { cookie: await addPerson(first, "jo") };
  await first.stop();

  const same = await startClosed(t, { dataDir });
  const asBefore = await same.fetch("/clients", { headers });
  await same.stop();
  const other = await startClosed(t, { dataDir, adminPassword: new Secret("another one entirely") });
  const ended = await other.fetch("/clients", { headers });
  const stays = await other.fetch("/clients", { headers: kept });
  const old = await other.post("/sign-in", { name: "admin", password: adminPassword });
  await signIn(other, "admin", "another one entirely");

  assert.deepEqual([asBefore.status, ended.status, stays.status, old.status], [200, 401, 200, 422]);
});

test("names that are taken, reserved or invalid are refused with a message beside the field", async (t) => {
  const app = await startClosed(t);
  const headers = { cookie: await signInAdmin(app) };
  await addAccount(app, "Jo.Meyer");

  const refused = ["ADMIN", "nobody", "Several", "token x", "а", "", "x".repeat(65)];
  const statuses: number[] = [];
  for (const name of ["jo.meyer", "jo@shop.example", ...refused])
    statuses.push((await app.post("/accounts", { name, role: "viewer" }, headers)).status);

  assert.deepEqual(statuses, [409, 200, ...refused.map(() => 422)]);
});

test("where people sign in at a proxy only, passwords and earlier sessions are refused, and new accounts have none", async (t) => {
  const dataDir = await temporaryFolder(t);
  const before = await startClosed(t, { dataDir });
  const cookie = await addPerson(before, "jo");
  await before.stop();
  const { service, admin } = await startGuarded(t, { dataDir });

  const inside = await service.fetch("/clients", { headers: { cookie } });
  const signedIn = await service.post("/sign-in", { name: "jo", password: ownPassword });
  const asAdmin = await service.post("/sign-in", { name: "admin", password: adminPassword });
  const { hash } = service.app.store.accounts.findByName("admin") ?? {};
  await admin.post("/accounts", { name: "new", role: "operator" });
  await service.stop();
  const after = await startClosed(t, { dataDir });
  const headers = { cookie: await signInAdmin(after) };
  const empty = await after.post("/sign-in", { name: "new", password: "" });
  const page = await (await after.post(`/accounts/${idOf(after, "new")}/password`, {}, headers)).text();

  assert.deepEqual([inside.status, signedIn.status, asAdmin.status], [401, 404, 404]);
  assert.deepEqual([hash, empty.status], ["", 422]);
  await signIn(after, "new", /id="one-time-password">([a-z0-9-]+)</.exec(page)?.[1] ?? "");
});

test("where people sign in at a proxy only, its administrator can list and change accounts", async (t) => {
  const { service, admin, viewer } = await startGuarded(t);
  const rights = async () => (await viewer.post("/clients", { name: "A" })).status;
  const page = async (path: string) => (await admin.fetch(path)).text();

  const none = await page("/accounts");
  const made = await admin.post("/accounts", { name: "Seller", role: "operator" });
  const path = made.headers.get("location") ?? "";
  const asOperator = await rights();
  const shown = await page(path);
  const list = await page("/accounts");
  await admin.post("/accounts/1", { role: "viewer" });
  const asViewer = await rights();
  // The account decides, not the groups.
  const promoted = { "remote-user": "seller", "remote-groups": "platen-admins" };
  const withGroups = (await service.post("/clients", { name: "B" }, promoted)).status;
  await admin.post("/accounts/1/disable", {});
  const disabled = (await viewer.fetch("/clients")).status;
  await admin.post("/accounts/1/enable", {});
  const enabled = (await viewer.fetch("/clients")).status;
  const reset = await admin.post("/accounts/1/password", {});
  const adminDeletion = await admin.post("/accounts/1/delete", {});

  assert.match(none, /No accounts\. Each user’s groups set the role/);
  assert.equal(path, "/accounts/1?done=made");
  assert.deepEqual([asOperator, asViewer, withGroups, disabled, enabled], [200, 403, 403, 403, 200]);
  assert.match(list, /Users sign in at your organization’s proxy/);
  assert.match(shown, /No password. Users sign in at the proxy/);
  for (const text of [list, shown]) assert.doesNotMatch(text, /one-time|accounts\/1\/password/i);
  assert.deepEqual([reset.status, adminDeletion.status], [404, 303]);
  assert.match(await reset.text(), /Platen has no passwords/);
  assert.equal(service.app.store.accounts.list().length, 0);
});

test("messages name the changed account, and an address alone causes no false message", async (t) => {
  const app = await startClosed(t);
  const headers = { cookie: await signInAdmin(app) };
  await addAccount(app, "jo");
  const messageAt = async (path: string) => {
    const answer = await app.fetch(path, { headers });
    assert.equal(answer.status, 200, path);
    const page = await answer.text();
    return /<div class="notice good"[^>]*>\s*<p>(.*?)<\/p>/.exec(page)?.[1];
  };
  const after = async (path: string, fields = {}) =>
    messageAt((await app.post(path, fields, headers)).headers.get("location") ?? "");

  const odd = [await messageAt("/accounts/2?done=disabled"), await messageAt("/accounts?deleted=jo")];
  for (const path of ["/account", "/accounts", "/accounts/1", "/backups"])
    for (const word of ["constructor", "__proto__", "toString", "deleted&name=<b>", "x"])
      odd.push(await messageAt(`${path}?done=${word}`));
  const messages = [
    await after("/accounts/2", { role: "operator" }),
    await after("/accounts/2/disable"),
    await (await app.fetch("/accounts", { headers })).text(),
    await after("/accounts/2/enable"),
    await after("/accounts/2/delete"),
  ];

  const [list] = messages.splice(2, 1);
  assert.match(list ?? "", />jo<[\s\S]*Disabled/, "although its one-time password is unused");
  assert.deepEqual(messages, [
    "“<bdi>jo</bdi>” is now an operator.",
    "Disabled: account “<bdi>jo</bdi>”.",
    "Enabled: account “<bdi>jo</bdi>”.",
    "Deleted: account “<bdi>jo</bdi>”.",
  ]);
  assert.deepEqual(new Set(odd), new Set([undefined]));
});

test("with a proxy and passwords, the list explains both ways to sign in, and nobody else can read the hashes", async (t) => {
  const app = await startClosed(t, { proxies: namingProxies() });
  const headers = { cookie: await signInAdmin(app) };

  const page = await (await app.fetch("/accounts", { headers })).text();

  assert.match(page, /Users sign in here or at your organization’s proxy/);
  assert.match(page, /REMOTE_GROUPS/);
  assert.match(page, /also upload, change and delete/);
  assert.equal(statSync(join(app.dataDir, "platen.sqlite")).mode & 0o777, 0o600);
});
