import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addPerson,
  cookiesOf,
  ownPassword,
  signIn,
  signInAdmin,
  startClosed,
} from "../support/access/people.ts";

const day = 24 * 60 * 60_000;
const hour = 60 * 60_000;

test("changing the password signs out all other browsers, and gives this one a new cookie", async (t) => {
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

test("sessions are listed with browser and address, and can be ended one by one or all others together", async (t) => {
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

test("a session ends after 30 days without use, and after 90 days in any case", async (t) => {
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

test("the last use of a session is saved at most every five minutes", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const cookie = await signInAdmin(app);
  const version = app.app.store.version();

  for (let i = 0; i < 20; i++) await app.fetch("/clients", { headers: { cookie } });
  const before = app.app.store.version();
  now += 4 * hour;
  for (let i = 0; i < 20; i++) await app.fetch("/clients", { headers: { cookie } });

  assert.deepEqual([before, app.app.store.version()], [version, version + 1]);
  assert.equal(app.app.store.accounts.list()[0]?.seen_at, now);
});

test("signing out ends this browser's session and deletes its cookie", async (t) => {
  const app = await startClosed(t);
  const [here, there] = [await signInAdmin(app), await signInAdmin(app)];

  const out = await app.post("/sign-out", {}, { cookie: here });

  assert.deepEqual([out.status, out.headers.get("location")], [303, "/sign-in"]);
  assert.match(out.headers.getSetCookie().join(), /^platen=; Path=\/; Max-Age=0/);
  assert.equal((await app.fetch("/clients", { headers: { cookie: here } })).status, 401);
  assert.equal((await app.fetch("/clients", { headers: { cookie: there } })).status, 200);
});

test("an account has at most twenty sessions: a new one ends the least recently used one", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const status = async (cookie = "") => (await app.fetch("/clients", { headers: { cookie } })).status;
  const used = await signInAdmin(app);
  const cookies: string[] = [];

  for (let i = 0; i < 25; i++) {
    cookies.push(await signInAdmin(app));
    // Some sign-ins have the same time, and others come a minute later.
    if (i % 2 === 0) now += 60_000;
    assert.equal(await status(used), 200, `after ${i + 1}`);
  }

  const statuses: number[] = [];
  for (const cookie of cookies.slice(4, 8)) statuses.push(await status(cookie));
  assert.deepEqual(statuses, [401, 401, 200, 200]);
});

test("a sign-in begins no session if the password changes while it is verified", async (t) => {
  const app = await startClosed(t);
  const { passwords, store } = app.app;
  const here = await addPerson(app, "jo");
  const chosen = "quiet marble sunrise";
  const verify = passwords.verify.bind(passwords);
  const changedMeanwhile = async (...attempt: Parameters<typeof verify>) => {
    const fits = await verify(...attempt);
    await app.post("/account/password", { password: ownPassword, chosen, again: chosen }, { cookie: here });
    return fits;
  };

  t.mock.method(passwords, "verify", changedMeanwhile, { times: 1 });
  const late = await app.post("/sign-in", { name: "jo", password: ownPassword });
  const sessions = store.sessions.ofAccount(2);
  const renewed = await app.post("/sign-in", { name: "jo", password: chosen });

  assert.deepEqual([late.status, cookiesOf(late), renewed.status], [422, "", 303]);
  assert.equal(sessions.length, 1);
});
