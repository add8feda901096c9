import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addAccount,
  adminPassword,
  cookiesOf,
  ownPassword,
  signIn,
  signInAdmin,
  startClosed,
} from "../support/access/people.ts";
import { startApp } from "../support/app.ts";

const day = 24 * 60 * 60_000;

test("without an administrator's password everyone may do everything, and there are no accounts", async (t) => {
  const { fetch, post } = await startApp(t);

  const page = await fetch("/", { headers: { accept: "text/html" } });
  const made = await post("/clients", { name: "Kunde" });
  const accounts = await post("/accounts", { name: "jo", role: "operator" });
  const signedIn = await post("/sign-in", { name: "admin", password: "" });

  assert.deepEqual([page.status, made.status, accounts.status, signedIn.status], [200, 200, 404, 404]);
  assert.doesNotMatch(await page.text(), /sign-out|\/account/);
  assert.equal((await fetch("/sign-in?next=%2Fclients")).headers.get("location"), "/clients");
});

test("signing in leads to the requested page, with a cookie that scripts cannot read", async (t) => {
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

test("behind https, the cookies are for https and this host only", async (t) => {
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

test("a one-time password opens only the page that changes it", async (t) => {
  const app = await startClosed(t);
  const password = await addAccount(app, "jo", "operator");
  const first = await signIn(app, "jo", password);
  const headers = { cookie: first };
  const html = { ...headers, accept: "text/html" };

  const page = await app.fetch("/", { headers: html });
  const changed = await app.post("/clients", { name: "Kunde" }, headers);
  const same = { password, chosen: password, again: password };
  const kept = await app.post("/sign-in/password", same, headers);
  const mistyped = { password: "mistyped", chosen: ownPassword, again: ownPassword };
  const refused = await app.post("/sign-in/password", mistyped, headers);
  const other = { password, chosen: ownPassword, again: ownPassword };
  const chosen = await app.post("/sign-in/password", other, headers);

  assert.deepEqual([page.status, page.headers.get("location")], [303, "/sign-in/password"]);
  assert.equal(changed.status, 401);
  assert.equal(kept.status, 422);
  assert.match(await refused.text(), /The one-time password is wrong\./);
  assert.equal(chosen.status, 303);
  assert.equal((await app.fetch("/clients", { headers })).status, 401);
  const now = { cookie: cookiesOf(chosen) };
  assert.equal((await app.post("/clients", { name: "Kunde" }, now)).status, 200);
  const oldPasswordAnswer = await app.post("/sign-in", { name: "jo", password });
  assert.equal(oldPasswordAnswer.status, 422);
});

test("changing a one-time password leads to the requested page, and never to another service", async (t) => {
  const app = await startClosed(t);
  const password = await addAccount(app, "jo", "operator");
  const form = { password, chosen: ownPassword, again: ownPassword };
  const entered = await app.post("/sign-in", { name: "jo", password, next: "/printers?q=ink" });
  const headers = { cookie: cookiesOf(entered) };

  const requested = await app.fetch("/clients/7?tab=2", { headers: { ...headers, accept: "text/html" } });
  const leading = "/sign-in/password?next=%2F%2Fevil.example%2F";
  const page = await (await app.fetch(leading, { headers })).text();
  const refused = await app.post("/sign-in/password", { ...form, again: "x", next: "/printers" }, headers);
  const changed = await app.post("/sign-in/password", { ...form, next: "/printers?q=ink" }, headers);

  const places = [entered, requested, changed].map((answer) => answer.headers.get("location"));
  assert.deepEqual(places, [
    "/sign-in/password?next=%2Fprinters%3Fq%3Dink",
    "/sign-in/password?next=%2Fclients%2F7%3Ftab%3D2",
    "/printers?q=ink",
  ]);
  assert.match(page, /<input type="hidden" name="next" value="\/">/);
  assert.match(await refused.text(), /<input type="hidden" name="next" value="\/printers">/);
});

test("a one-time password expires after a week", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const password = await addAccount(app, "jo");
  const cookie = await signIn(app, "jo", password);
  now += 7 * day;

  const late = await app.post("/sign-in", { name: "jo", password });
  const chosen = { password, chosen: ownPassword, again: ownPassword };
  const inside = await app.post("/sign-in/password", chosen, { cookie });

  assert.equal(late.status, 422);
  assert.equal(inside.headers.get("location"), "/sign-in");
  const list = await app.fetch("/accounts", { headers: { cookie: await signInAdmin(app) } });
  assert.match(await list.text(), /One-time password expired/);
});
