import assert from "node:assert/strict";
import { test } from "node:test";
import { dayMs } from "../../src/domain/text.ts";
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
import { statusesOf } from "../support/deploy/answers.ts";
import { exchange } from "../support/raw.ts";

const html = { accept: "text/html" };
const credentials = { name: "admin", password: adminPassword };

test("without an administrator's password everyone may do everything, and there are no accounts or tokens", async (t) => {
  const { app, fetch, post } = await startApp(t);

  const page = await fetch("/", { headers: html });
  const made = await post("/clients", { name: "Kunde" });
  const refused = [
    await post("/accounts", { name: "jo", role: "operator" }),
    await post("/sign-in", { name: "admin", password: "" }),
    await post("/tokens", { name: "A", scope: "read" }),
    await fetch("/accounts"),
    await fetch("/tokens"),
  ];
  // The credentials of a proxy's own log-in are ignored.
  const other = await fetch("/printers", { headers: { authorization: "Basic am86c2VjcmV0" } });

  assert.deepEqual([page.status, made.status, other.status], [200, 200, 200]);
  for (const { status } of refused) assert.equal(status, 404);
  assert.match((await refused.at(-1)?.text()) ?? "", /Set ADMIN_PASSWORD_FILE to turn it on/);
  assert.doesNotMatch(await page.text(), /sign-out|\/account/);
  assert.equal((await fetch("/sign-in?next=%2Fclients")).headers.get("location"), "/clients");
  assert.equal(app.store.tokens.list().length, 0);
});

test("signing in leads to the requested page, with a cookie that scripts cannot read", async (t) => {
  const { fetch, post } = await startClosed(t);
  const refused = await fetch("/clients?q=a", { headers: html });
  const path = refused.headers.get("location") ?? "";
  const form = await (await fetch(path)).text();
  const next = /name="next" value="([^"]*)"/.exec(form)?.[1] ?? "";

  const answer = await post("/sign-in", { ...credentials, name: "Admin", next });
  const page = await fetch("/clients", { headers: { cookie: cookiesOf(answer) } });

  assert.deepEqual([refused.status, path], [303, "/sign-in?next=%2Fclients%3Fq%3Da"]);
  assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/clients?q=a"]);
  const [session = ""] = answer.headers.getSetCookie();
  assert.match(session, /^platen=[\w-]{43}; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Lax$/);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /<bdi>admin<\/bdi>[\s\S]*Sign out/);
  assert.doesNotMatch(form, /href="\/help/, "the help is for those who have signed in");
});

test("signing in never leads to another host", async (t) => {
  const { fetch, post } = await startClosed(t);
  const hostile = [
    ...["//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example"],
    ...["javascript:alert(1)", "/.//evil.example", "/a/..//evil.example", "/\t/evil.example"],
    ...["/\r\nSet-Cookie: a=b", " //evil.example", "/%0d%0aSet-Cookie:a=b/../..//evil.example"],
    ...["evil.example", "/sign-in?next=/sign-in", "/sign-out", `/${"a".repeat(3000)}`],
  ];

  for (const [i, next] of hostile.entries()) {
    // The answer to the form is made in the same way.
    if (i % 4 === 0)
      assert.equal((await post("/sign-in", { ...credentials, next })).headers.get("location"), "/", next);
    const form = await (await fetch(`/sign-in?${new URLSearchParams({ next })}`)).text();
    assert.match(form, /name="next" value="\/"/, next);
  }
  const kept = await post("/sign-in", { ...credentials, next: "/printers?q=ä&x=1#a" });
  assert.equal(kept.headers.get("location"), "/printers?q=%C3%A4&x=1");
});

test("a one-time password opens only the page that changes it, which leads to the requested page of this service", async (t) => {
  const app = await startClosed(t);
  const password = await addAccount(app, "jo", "operator");
  const form = { password, chosen: ownPassword, again: ownPassword, next: "/printers?q=ink" };
  const entered = await app.post("/sign-in", { name: "jo", password, next: "/printers?q=ink" });
  const headers = { cookie: cookiesOf(entered) };
  const choose = (fields = {}) => app.post("/sign-in/password", { ...form, ...fields }, headers);

  const requested = await app.fetch("/clients/7?tab=2", { headers: { ...headers, ...html } });
  const leading = "/sign-in/password?next=%2F%2Fevil.example%2F";
  const page = await (await app.fetch(leading, { headers })).text();
  const changed = await app.post("/clients", { name: "Kunde" }, headers);
  const kept = await choose({ chosen: password, again: password });
  const refused = await choose({ password: "mistyped", next: "/printers" });
  const chosen = await choose();
  const before = await app.fetch("/clients", { headers });
  const after = await app.post("/clients", { name: "Kunde" }, { cookie: cookiesOf(chosen) });
  const again = await app.post("/sign-in", { name: "jo", password });

  const places = [entered, requested, chosen].map((answer) => answer.headers.get("location"));
  assert.deepEqual(places, [
    "/sign-in/password?next=%2Fprinters%3Fq%3Dink",
    "/sign-in/password?next=%2Fclients%2F7%3Ftab%3D2",
    "/printers?q=ink",
  ]);
  assert.match(page, /<input type="hidden" name="next" value="\/">/);
  const text = await refused.text();
  assert.match(text, /The one-time password is wrong\./);
  assert.match(text, /<input type="hidden" name="next" value="\/printers">/);
  const answers = [changed, kept, refused, chosen, before, after, again];
  assert.deepEqual(statusesOf(answers), [401, 422, 422, 303, 401, 200, 422]);
});

test("a one-time password expires after a week", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const password = await addAccount(app, "jo");
  const cookie = await signIn(app, "jo", password);
  now += 7 * dayMs;

  const late = await app.post("/sign-in", { name: "jo", password });
  const form = { password, chosen: ownPassword, again: ownPassword };
  const inside = await app.post("/sign-in/password", form, { cookie });

  assert.equal(late.status, 422);
  assert.equal(inside.headers.get("location"), "/sign-in");
  const list = await app.fetch("/accounts", { headers: { cookie: await signInAdmin(app) } });
  assert.match(await list.text(), /One-time password expired/);
});

test("a password typed into any field appears in no address, log line or page", async (t) => {
  const { url, lines, requests } = await startClosed(t);
  const secret = "zebra-umbrella-violin";
  const send = async (head: string, body = "") => {
    const form = `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    const text = `${head} HTTP/1.1\r\nHost: x\r\n${body && form}Connection: close\r\n\r\n${body}`;
    return exchange(url, text);
  };

  const shown = [
    await send(`GET /sign-in?name=admin&password=${secret}&next=%2F`),
    await send(`GET http://x/sign-in?password=${secret}`),
    await send(`PUT //sign-in?password=${secret}`),
    await send("POST /sign-in", `name=admin&password=${secret}`),
  ];
  await send("POST /sign-in", `name=${secret}&password=x`);

  assert.match(shown[0] ?? "", /^HTTP\/1\.1 200/);
  for (const text of shown) assert.ok(!text.includes(secret), text);
  assert.doesNotMatch(JSON.stringify([lines, requests]), /zebra|orbit/);
  const refused = "sign-in: refused: somebody under a name that no account has from 127.0.0.1";
  assert.ok(lines.some((line) => line.startsWith(refused)));
});

test("invalid fields and very long texts are refused and break nothing", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const odd = ["\0", "\u{d800}", "ﷺ".repeat(60), "x".repeat(20_000), "a\u0301".repeat(5000), "' OR 1=1 --"];

  for (const text of odd) {
    const unknown = await app.post("/sign-in", { name: text, password: text, next: text });
    const known = await app.post("/sign-in", { name: "admin", password: text });
    assert.deepEqual([unknown.status, known.status], [422, 422], text.slice(0, 20));
    now += dayMs;
  }
  assert.equal((await app.fetch("/sign-in", { method: "POST" })).status, 422);
  await signInAdmin(app);
});
