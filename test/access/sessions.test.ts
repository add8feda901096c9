import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { dayMs } from "../../src/domain/text.ts";
import {
  addPerson,
  adminPassword,
  cookiesOf,
  ownPassword,
  signIn,
  signInAdmin,
  startClosed,
} from "../support/access/people.ts";
import { navigation, type TestApp } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { statusesOf } from "../support/deploy/answers.ts";
import { exchange, statusOf } from "../support/raw.ts";

const chosen = "quiet marble sunrise";
const change = { password: ownPassword, chosen, again: chosen };
const credentials = { name: "admin", password: adminPassword };

/** The statuses of a page for browsers with these cookies. */
async function statusesWith({ fetch }: TestApp, cookies: readonly string[]): Promise<number[]> {
  const answers = cookies.map((cookie) => fetch("/clients", { headers: { cookie } }));
  return (await Promise.all(answers)).map(({ status }) => status);
}

test("changing the password signs out all other browsers, and gives this one a new cookie", async (t) => {
  const app = await startClosed(t);
  const here = await addPerson(app, "jo");
  const there = await signIn(app, "jo", ownPassword);
  const headers = { cookie: here };

  const wrong = await app.post("/account/password", { ...change, password: "not this one" }, headers);
  const apart = await app.post("/account/password", { ...change, again: "quiet marble" }, headers);
  const changed = await app.post("/account/password", change, headers);

  assert.deepEqual([wrong.status, apart.status, changed.status], [422, 422, 303]);
  assert.deepEqual(await statusesWith(app, [here, there, cookiesOf(changed)]), [401, 401, 200]);
});

test("sessions are listed with browser and address, and can be ended one by one or all others together", async (t) => {
  const app = await startClosed(t);
  const admin = await signInAdmin(app);
  const first = await addPerson(app, "jo");
  const headers = { cookie: first };
  const others: string[] = [];
  for (const agent of ["Mozilla/5.0 (Windows NT 10.0) Firefox/140.0", `x${"y".repeat(5000)}`]) {
    const fields = { name: "jo", password: ownPassword };
    others.push(cookiesOf(await app.post("/sign-in", fields, { "user-agent": agent })));
  }

  const page = await (await app.fetch("/account", { headers })).text();
  const [, ended, about] =
    /sessions\/(\d+)\/end"><button>Sign out<span\s+class="[^"]*"> (Firefox[^<]*)/.exec(page) ?? [];
  await app.post(`/account/sessions/${ended}/end`, {}, headers);
  const afterOne = await statusesWith(app, others);
  await app.post("/account/sessions/end", {}, headers);
  const afterAll = await statusesWith(app, [...others, first]);
  const entries = await logEntries(app, "sessions-ended");
  // Nobody can end another user's session by its id.
  for (let id = 1; id < 9; id++) await app.post(`/account/sessions/${id}/end`, {}, headers);

  assert.match(page, /Another browser/);
  assert.match(about ?? "", /^Firefox on Windows from 127\.0\.0\.1/);
  assert.deepEqual([afterOne, afterAll], [Array.of(401, 200), Array.of(401, 401, 200)]);
  assert.deepEqual(await statusesWith(app, [admin]), [200]);
  const logged = entries.map(({ who, from, what }) => `${who} from ${from}: ${what}`);
  assert.deepEqual(logged, ["jo from 127.0.0.1: 1 browser", "jo from 127.0.0.1: 1 browser"]);
});

test("a session ends after 30 days without use, and 90 in any case; its last use is saved every five minutes", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const [idle, used] = [await signInAdmin(app), await signInAdmin(app)];
  const version = () => app.app.store.version();
  const useOften = async () => {
    for (let i = 0; i < 6; i++) await statusesWith(app, [used]);
    return version() - before;
  };

  const before = version();
  const saves = [await useOften()];
  now += dayMs / 6;
  saves.push(await useOften());
  const seenAt = app.app.store.accounts.list()[0]?.seen_at === now;
  const seen: number[] = [];
  for (const days of [29, 58, 87, 90]) {
    now = Date.UTC(2026, 10, 21) + days * dayMs;
    seen.push(...(await statusesWith(app, days === 58 ? [idle, used] : [used])));
  }

  assert.deepEqual([saves, seenAt], [[0, 1], true]);
  assert.deepEqual(seen, [200, 401, 200, 200, 401]);
});

test("signing out ends this browser's session and deletes its cookie, and no address or image signs out", async (t) => {
  const app = await startClosed(t);
  const [here, there] = [await signInAdmin(app), await signInAdmin(app)];
  const headers = { cookie: here };
  const ask = (path: string, init: RequestInit) =>
    app.fetch(path, { ...init, headers: { ...headers, ...init.headers } });

  const harmless = [
    await ask("/sign-out", { headers: navigation }),
    await ask("/sign-out", { headers: { accept: "image/*" } }),
    await ask("/sign-out", { method: "HEAD" }),
    await ask("/sign-out?_method=POST", { headers: { "x-http-method-override": "POST" } }),
  ];
  const before = await statusesWith(app, [here]);
  const out = await app.post("/sign-out", {}, headers);

  assert.deepEqual(statusesOf(harmless), [303, 405, 405, 405]);
  for (const answer of harmless) assert.deepEqual(answer.headers.getSetCookie(), []);
  assert.deepEqual([out.status, out.headers.get("location")], [303, "/sign-in"]);
  assert.match(out.headers.getSetCookie().join(), /^platen=; Path=\/; Max-Age=0/);
  assert.deepEqual([...before, ...(await statusesWith(app, [here, there]))], [200, 401, 200]);
});

test("an account has at most twenty sessions: a new one ends the least recently used one", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const used = await signInAdmin(app);
  const cookies: string[] = [];

  for (let i = 0; i < 23; i++) {
    cookies.push(await signInAdmin(app));
    // Some sign-ins have the same time, and others come a minute later.
    if (i % 2 === 0) now += 60_000;
    if (i % 6 === 0) assert.deepEqual(await statusesWith(app, [used]), [200], `after ${i + 1}`);
  }

  assert.deepEqual(await statusesWith(app, [used, ...cookies.slice(2, 6)]), [200, 401, 401, 200, 200]);
});

test("a sign-in begins no session if the password changes while it is verified", async (t) => {
  const app = await startClosed(t);
  const { passwords, store } = app.app;
  const here = await addPerson(app, "jo");
  const verify = passwords.verify.bind(passwords);
  const changedMeanwhile = async (...attempt: Parameters<typeof verify>) => {
    const fits = await verify(...attempt);
    await app.post("/account/password", change, { cookie: here });
    return fits;
  };

  t.mock.method(passwords, "verify", changedMeanwhile, { times: 1 });
  const late = await app.post("/sign-in", { name: "jo", password: ownPassword });
  const sessions = store.sessions.ofAccount(2);
  const renewed = await app.post("/sign-in", { name: "jo", password: chosen });

  assert.deepEqual([late.status, cookiesOf(late), renewed.status], [422, "", 303]);
  assert.equal(sessions.length, 1);
});

test("signing in ends the old cookie's session, also in two tabs at once, and the last cookie has the only one", async (t) => {
  const app = await startClosed(t);
  const planted = await addPerson(app, "jo");
  const enter = async (cookie: string) => cookiesOf(await app.post("/sign-in", credentials, { cookie }));

  const made = await enter(`platen=${"A".repeat(43)}`);
  const again = await enter(planted);
  const both = await Promise.all([enter(again), enter(again)]);
  const statuses = await statusesWith(app, [planted, again, ...both]);
  const cookie = both[1] ?? "";
  await app.post("/account/sessions/end", {}, { cookie });
  const page = await (await app.fetch("/account", { headers: { cookie } })).text();

  assert.doesNotMatch(made, /AAAA/);
  assert.notEqual(again.split(";")[0], planted.split(";")[0]);
  assert.deepEqual(statuses, [401, 401, 200, 200]);
  assert.equal(page.match(/This browser/g)?.length, 1);
  assert.doesNotMatch(page, /sessions\/\d+\/end/);
});

test("two cookies of one name, or one in another form, are ignored, and saved digests open nothing", async (t) => {
  const app = await startClosed(t);
  const [mine, theirs] = [await signInAdmin(app), await addPerson(app, "jo")];
  const [own = "", planted = ""] = [mine.split(";")[0], theirs.split(";")[0]];
  const digest = createHash("sha256").update(own.slice(7)).digest("hex");
  assert.ok(app.app.store.sessions.find(digest));
  const hash = app.app.store.accounts.findByName("admin")?.hash ?? "";

  const statuses = await statusesWith(app, [
    `${own}; ${planted}`,
    `${planted}; ${own}`,
    `platen="${own.slice(7)}"`,
    `PLATEN${own.slice(6)}`,
    `platen=${digest}`,
    own.replace("platen=", "__Host-platen="),
  ]);
  const byHash = await app.post("/sign-in", { name: "admin", password: hash });

  assert.deepEqual(new Set(statuses), new Set([401]));
  assert.equal(byHash.status, 422);
});

test("behind https, a session's cookie is for this host only, and counts only under its exact name", async (t) => {
  const app = await startClosed(t, { publicUrl: "https://platen.example" });
  const answer = await app.post("/sign-in", credentials);
  const cookie = cookiesOf(answer).split("; ")[0] ?? "";
  const planted = cookiesOf(await app.post("/sign-in", credentials)).replaceAll("__Host-", "");
  const ask = async (before: string) => {
    const head = `GET /clients HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: ${before}${cookie}\r\n\r\n`;
    return statusOf(await exchange(app.url, Buffer.from(head, "latin1")));
  };

  const same = await Promise.all(["", "a=b; ", "a=b;", "a=b;\t "].map(ask));
  const other = await Promise.all(["\xa0", "a=b;\xa0", "a=b; \x85", "\xc2\xa0", "x"].map(ask));
  const withPlanted = await statusesWith(app, [
    planted,
    `${planted}; ${cookie}`,
    `${cookie}; ${planted}`,
    `${cookie}; ${planted.replace("platen=", "__Host-platen=")}`,
    cookie.replace("__Host-", "__host-"),
    cookie.replace("__Host-platen", "__Host-platen "),
  ]);
  const elsewhere = await (await app.fetch("/sign-in")).text();

  const cookies = answer.headers.getSetCookie();
  assert.equal(cookies.length, 2);
  for (const line of cookies)
    assert.match(line, /^__Host-platen[\w-]*=.*; Path=\/; .*HttpOnly; SameSite=Lax; Secure$/);
  assert.deepEqual(same, [200, 200, 200, 200]);
  assert.deepEqual(other, [401, 401, 401, 401, 401]);
  assert.deepEqual(withPlanted, [401, 200, 200, 401, 401, 401]);
  assert.match(elsewhere, /href="https:\/\/platen\.example"/);
});

test("of two simultaneous password changes, one succeeds and the other is refused as late", async (t) => {
  const app = await startClosed(t);
  const browsers = [await addPerson(app, "jo"), await signIn(app, "jo", ownPassword)];
  const passwords = [chosen, "winter copper lantern"];

  const answers = await Promise.all(
    passwords.map((chosen, i) =>
      app.post("/account/password", { ...change, chosen, again: chosen }, { cookie: browsers[i] ?? "" }),
    ),
  );
  const tried: number[] = [];
  for (const password of [ownPassword, ...passwords])
    tried.push((await app.post("/sign-in", { name: "jo", password })).status);
  const winner = answers.find(({ status }) => status === 303);

  // The late one is refused before or after it is read, as its session has ended.
  assert.match(String(answers.map(({ status }) => status).sort()), /^303,40[19]$/);
  assert.equal(tried[0], 422);
  assert.deepEqual(tried.slice(1).sort(), [303, 422]);
  assert.deepEqual(await statusesWith(app, [...browsers, winner ? cookiesOf(winner) : ""]), [401, 401, 200]);
});
