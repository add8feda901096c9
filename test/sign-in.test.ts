import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "../src/config.ts";
import { startApp, temporaryFolder } from "./support/app.ts";
import {
  addAccount,
  addPerson,
  adminPassword,
  cookiesOf,
  ownPassword,
  signIn,
  signInAdmin,
  startClosed,
} from "./support/people.ts";

const hour = 60 * 60_000;
const day = 24 * hour;

test("without a password of the administrator's everybody may do everything, and there are no accounts", async (t) => {
  const { fetch, post } = await startApp(t);

  const page = await fetch("/", { headers: { accept: "text/html" } });
  const made = await post("/clients", { name: "Kunde" });
  const accounts = await post("/accounts", { name: "jo", role: "operator" });
  const signedIn = await post("/sign-in", { name: "admin", password: "" });

  assert.deepEqual([page.status, made.status, accounts.status, signedIn.status], [200, 200, 404, 404]);
  assert.doesNotMatch(await page.text(), /sign-out|\/account/);
  assert.equal((await fetch("/sign-in?next=%2Fclients")).headers.get("location"), "/clients");
});

test("who signs in goes on where they wanted to go, with a cookie that no script reads", async (t) => {
  const { fetch, post } = await startClosed(t);
  const refused = await fetch("/clients?q=a", { headers: { accept: "text/html" } });
  const path = refused.headers.get("location") ?? "";
  const form = await (await fetch(path)).text();
  const next = /name="next" value="([^"]*)"/.exec(form)?.[1] ?? "";

  const answer = await post("/sign-in", { name: "Admin", password: adminPassword, next });
  const page = await fetch("/clients", { headers: { cookie: cookiesOf(answer) } });

  assert.deepEqual([refused.status, path], [303, "/sign-in?next=%2Fclients%3Fq%3Da"]);
  assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/clients?q=a"]);
  const [session = ""] = answer.headers.getSetCookie();
  assert.match(session, /^platen=[\w-]{43}; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Lax$/);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /<bdi>admin<\/bdi>[\s\S]*Sign out/);
});

test("behind https the cookies are for https and this host alone", async (t) => {
  const { fetch, post } = await startClosed(t, { publicUrl: "https://platen.example" });

  const answer = await post("/sign-in", { name: "admin", password: adminPassword });
  const cookies = answer.headers.getSetCookie();
  const plain = cookiesOf(answer).replaceAll("__Host-", "");
  const byOtherName = await fetch("/clients", { headers: { cookie: plain } });
  const elsewhere = await (await fetch("/sign-in")).text();

  for (const cookie of cookies)
    assert.match(cookie, /^__Host-platen[\w-]*=.*; Path=\/; .*HttpOnly; SameSite=Lax; Secure$/);
  assert.equal(cookies.length, 2);
  assert.equal(byOtherName.status, 401);
  assert.match(elsewhere, /href="https:\/\/platen\.example"/);
});

test("a one-time password opens nothing but the page on which it is changed", async (t) => {
  const app = await startClosed(t);
  const password = await addAccount(app, "jo", "operator");
  const first = await signIn(app, "jo", password);
  const headers = { cookie: first };
  const html = { ...headers, accept: "text/html" };

  const page = await app.fetch("/", { headers: html });
  const changed = await app.post("/clients", { name: "Kunde" }, headers);
  const same = { password, chosen: password, again: password };
  const kept = await app.post("/sign-in/password", same, headers);
  const other = { password, chosen: ownPassword, again: ownPassword };
  const chosen = await app.post("/sign-in/password", other, headers);

  assert.deepEqual([page.status, page.headers.get("location")], [303, "/sign-in/password"]);
  assert.equal(changed.status, 401);
  assert.equal(kept.status, 422);
  assert.equal(chosen.status, 303);
  assert.equal((await app.fetch("/clients", { headers })).status, 401);
  const now = { cookie: cookiesOf(chosen) };
  assert.equal((await app.post("/clients", { name: "Kunde" }, now)).status, 200);
  const again = await app.post("/sign-in", { name: "jo", password });
  assert.equal(again.status, 422);
});

test("a one-time password that nobody used for a week is over", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const password = await addAccount(app, "jo");
  now += 7 * day;

  const late = await app.post("/sign-in", { name: "jo", password });

  assert.equal(late.status, 422);
  const list = await app.fetch("/accounts", { headers: { cookie: await signInAdmin(app) } });
  assert.match(await list.text(), /one-time password is over/);
});

test("a password that is changed signs all other browsers out, and this one keeps another cookie", async (t) => {
  const app = await startClosed(t);
  const here = await addPerson(app, "jo");
  const there = await signIn(app, "jo", ownPassword);
  const sent = { password: ownPassword, chosen: "quiet marble sunrise", again: "quiet marble sunrise" };

  const wrong = await app.post("/account/password", { ...sent, password: "not this one" }, { cookie: here });
  const apart = await app.post("/account/password", { ...sent, again: "quiet marble" }, { cookie: here });
  const changed = await app.post("/account/password", sent, { cookie: here });

  assert.deepEqual([wrong.status, apart.status, changed.status], [422, 422, 303]);
  const statuses = [here, there, cookiesOf(changed)].map(
    async (cookie) => (await app.fetch("/clients", { headers: { cookie } })).status,
  );
  assert.deepEqual(await Promise.all(statuses), [401, 401, 200]);
});

test("sessions are listed with what began them, ended one by one, and all others at once", async (t) => {
  const app = await startClosed(t);
  const first = await addPerson(app, "jo");
  const agents = ["Mozilla/5.0 (Windows NT 10.0) Firefox/140.0", `x${"y".repeat(5000)}`];
  const others: string[] = [];
  for (const agent of agents) {
    const fields = { name: "jo", password: ownPassword };
    others.push(cookiesOf(await app.post("/sign-in", fields, { "user-agent": agent })));
  }
  const headers = { cookie: first };

  const page = await (await app.fetch("/account", { headers })).text();
  const ended =
    /\/account\/sessions\/(\d+)\/end"><button>Sign out<span\s+class="visually-hidden"> Firefox on Windows from 127\.0\.0\.1/.exec(
      page,
    )?.[1];
  await app.post(`/account/sessions/${ended}/end`, {}, headers);
  const afterOne = await app.fetch("/clients", { headers: { cookie: others[0] ?? "" } });
  const stays = await app.fetch("/clients", { headers: { cookie: others[1] ?? "" } });
  await app.post("/account/sessions/end", {}, headers);
  const afterAll = await app.fetch("/clients", { headers: { cookie: others[1] ?? "" } });

  assert.match(page, /Another browser/);
  assert.deepEqual([afterOne.status, stays.status, afterAll.status], [401, 200, 401]);
  assert.equal((await app.fetch("/clients", { headers })).status, 200);
});

test("a session ends after 30 days without use, and after 90 in any case", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const [idle, used] = [await signInAdmin(app), await signInAdmin(app)];
  const status = async (cookie: string) => (await app.fetch("/clients", { headers: { cookie } })).status;

  const seen: number[] = [];
  for (let at = 0; at < 4; at++) {
    now += 29 * day;
    if (at === 1) seen.push(await status(idle));
    seen.push(await status(used));
  }

  assert.deepEqual(seen, [200, 401, 200, 200, 401]);
});

test("using a session writes nothing until five minutes have gone, and then one time for all", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const cookie = await signInAdmin(app);
  const version = app.app.store.version();

  for (let i = 0; i < 20; i++) await app.fetch("/clients", { headers: { cookie } });
  now += 4 * hour;
  for (let i = 0; i < 20; i++) await app.fetch("/clients", { headers: { cookie } });
  const before = app.app.store.version();
  await app.app.sessions.flush();

  assert.equal(before, version);
  assert.equal(app.app.store.accounts.list()[0]?.seen_at, now);
});

test("an account that is disabled, reset or deleted is signed out at once", async (t) => {
  const app = await startClosed(t);
  const admin = { cookie: await signInAdmin(app) };
  const statuses: number[] = [];

  for (const [i, what] of ["disable", "password", "delete"].entries()) {
    const headers = { cookie: await addPerson(app, `jo${i}`) };
    const id = app.app.store.accounts.findByName(`jo${i}`)?.account.id;
    await app.post(`/accounts/${id}/${what}`, {}, admin);
    statuses.push((await app.fetch("/clients", { headers })).status);
    const again = await app.post("/sign-in", { name: `jo${i}`, password: ownPassword });
    statuses.push(again.status);
  }

  assert.deepEqual(statuses, [401, 422, 401, 422, 401, 422]);
});

test("a role that is changed counts at once, and the administrator's account is left alone", async (t) => {
  const app = await startClosed(t);
  const admin = { cookie: await signInAdmin(app) };
  const headers = { cookie: await addPerson(app, "jo", "viewer") };
  const { id } = app.app.store.accounts.findByName("jo")?.account ?? {};
  const own = app.app.store.accounts.findByName("admin")?.account.id;

  const before = await app.post("/clients", { name: "A" }, headers);
  await app.post(`/accounts/${id}`, { role: "operator" }, admin);
  const after = await app.post("/clients", { name: "A" }, headers);
  const asAdmin = await app.post(`/accounts/${id}`, { role: "admin" }, admin);
  const locked = ["disable", "password", "delete"].map(
    async (what) => (await app.post(`/accounts/${own}/${what}`, {}, admin)).status,
  );

  assert.deepEqual([before.status, after.status, asAdmin.status], [403, 200, 422]);
  assert.deepEqual(await Promise.all(locked), [403, 403, 403]);
});

test("another password of the setting's is the administrator's from the next start, and ends the sessions", async (t) => {
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

test("who signs out is out in this browser, and its cookie is gone", async (t) => {
  const app = await startClosed(t);
  const [here, there] = [await signInAdmin(app), await signInAdmin(app)];

  const out = await app.post("/sign-out", {}, { cookie: here });

  assert.deepEqual([out.status, out.headers.get("location")], [303, "/sign-in"]);
  assert.match(out.headers.getSetCookie().join(), /^platen=; Path=\/; Max-Age=0/);
  assert.equal((await app.fetch("/clients", { headers: { cookie: here } })).status, 401);
  assert.equal((await app.fetch("/clients", { headers: { cookie: there } })).status, 200);
});

test("an account has twenty sessions at most: the one that was used least goes", async (t) => {
  const app = await startClosed(t);
  const cookies: string[] = [];
  for (let i = 0; i < 21; i++) cookies.push(await signInAdmin(app));
  const status = async (cookie = "") => (await app.fetch("/clients", { headers: { cookie } })).status;

  assert.deepEqual([await status(cookies[0]), await status(cookies[1])], [401, 200]);
});

test("names that are taken, kept or unreadable are refused beside their field", async (t) => {
  const app = await startClosed(t);
  const headers = { cookie: await signInAdmin(app) };
  await addAccount(app, "Jo.Meyer");

  const statuses: Record<string, number> = {};
  for (const name of ["jo.meyer", "ADMIN", "nobody", "token x", "а", "", "x".repeat(65), "jo@shop.example"])
    statuses[name] = (await app.post("/accounts", { name, role: "viewer" }, headers)).status;

  assert.deepEqual(statuses, {
    "jo.meyer": 409,
    ADMIN: 422,
    nobody: 422,
    "token x": 422,
    а: 422,
    "": 422,
    ["x".repeat(65)]: 422,
    "jo@shop.example": 200,
  });
});
