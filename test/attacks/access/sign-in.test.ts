import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addPerson,
  adminPassword,
  cookiesOf,
  signInAdmin,
  startClosed,
} from "../../support/access/people.ts";
import { temporaryFolder } from "../../support/app.ts";
import { exchange } from "../../support/raw.ts";
import { serve } from "../../support/service.ts";

const minute = 60_000;

test("signing in ends the session of the old cookie and begins a new one", async (t) => {
  const app = await startClosed(t);
  const planted = await addPerson(app, "jo");

  const made = await app.post(
    "/sign-in",
    { name: "admin", password: adminPassword },
    { cookie: `platen=${"A".repeat(43)}` },
  );
  const newSignIn = await app.post(
    "/sign-in",
    { name: "admin", password: adminPassword },
    { cookie: planted },
  );
  const before = await app.fetch("/clients", { headers: { cookie: planted } });

  assert.doesNotMatch(cookiesOf(made), /AAAA/);
  assert.equal(newSignIn.status, 303);
  assert.equal(before.status, 401);
});

test("two cookies of the same name, one from another host of the domain, are both ignored", async (t) => {
  const app = await startClosed(t);
  const [mine, theirs] = [await signInAdmin(app), await addPerson(app, "jo")];
  const [own = "", planted = ""] = [mine.split(";")[0], theirs.split(";")[0]];
  const statuses: number[] = [];

  for (const cookie of [
    `${own}; ${planted}`,
    `${planted}; ${own}`,
    `platen="${own.slice(7)}"`,
    `PLATEN${own.slice(6)}`,
  ])
    statuses.push((await app.fetch("/clients", { headers: { cookie } })).status);

  assert.deepEqual(statuses, [401, 401, 401, 401]);
});

test("signing in never leads to another host", async (t) => {
  const { fetch, post } = await startClosed(t);
  const hostile = [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https://evil.example",
    "javascript:alert(1)",
    "/.//evil.example",
    "/a/..//evil.example",
    "/\t/evil.example",
    "/\r\nSet-Cookie: a=b",
    " //evil.example",
    "/%0d%0aSet-Cookie:a=b/../..//evil.example",
    "evil.example",
    "/sign-in?next=/sign-in",
    "/sign-out",
    `/${"a".repeat(3000)}`,
  ];
  const led: string[] = [];

  for (const next of hostile) {
    const answer = await post("/sign-in", { name: "admin", password: adminPassword, next });
    led.push(answer.headers.get("location") ?? String(answer.status));
    const form = await (await fetch(`/sign-in?${new URLSearchParams({ next })}`)).text();
    led.push(/name="next" value="([^"]*)"/.exec(form)?.[1] ?? "");
  }
  const kept = await post("/sign-in", {
    name: "admin",
    password: adminPassword,
    next: "/printers?q=ä&x=1#a",
  });

  assert.deepEqual(new Set(led), new Set(["/"]));
  assert.equal(kept.headers.get("location"), "/printers?q=%C3%A4&x=1");
});

test("a page of another site cannot sign anyone in or out", async (t) => {
  const app = await startClosed(t);
  const cookie = await signInAdmin(app);
  const foreign: Record<string, string>[] = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example" },
    { origin: "null" },
  ];
  const statuses: number[] = [];

  for (const headers of foreign) {
    const into = await app.post("/sign-in", { name: "admin", password: adminPassword }, headers);
    const out = await app.post("/sign-out", {}, { ...headers, cookie });
    const made = await app.post("/accounts", { name: "mine", role: "operator" }, { ...headers, cookie });
    statuses.push(into.status, out.status, made.status);
  }

  assert.deepEqual(
    statuses,
    foreign.flatMap(() => [403, 403, 403]),
  );
  assert.equal((await app.fetch("/clients", { headers: { cookie } })).status, 200);
});

test("a user cannot end another user's session by its id", async (t) => {
  const app = await startClosed(t);
  const admin = await signInAdmin(app);
  const viewer = await addPerson(app, "jo");

  for (let id = 1; id < 9; id++) await app.post(`/account/sessions/${id}/end`, {}, { cookie: viewer });

  assert.equal((await app.fetch("/clients", { headers: { cookie: admin } })).status, 200);
});

test("the saved digests of sessions and passwords open nothing", async (t) => {
  const app = await startClosed(t);
  const cookie = await signInAdmin(app);
  const kept = app.app.store.accounts.findByName("admin")?.hash ?? "";
  const { createHash } = await import("node:crypto");
  const digest = createHash("sha256").update(cookie.slice(7, 50)).digest("hex");
  assert.ok(app.app.store.sessions.find(digest));

  const byDigest = await app.fetch("/clients", { headers: { cookie: `platen=${digest}` } });
  const byHash = await app.post("/sign-in", { name: "admin", password: kept });

  assert.deepEqual([byDigest.status, byHash.status], [401, 422]);
});

test("a password typed into any field appears in no address, log line or page", async (t) => {
  const folder = await temporaryFolder(t);
  const service = await serve(t, folder, { ADMIN_PASSWORD: adminPassword });
  const secret = "zebra-umbrella-violin";
  const send = async (head: string, body = "") => {
    const form = `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    return exchange(
      service.url,
      `${head} HTTP/1.1\r\nHost: x\r\n${body && form}Connection: close\r\n\r\n${body}`,
    );
  };

  const shown = [
    await send(`GET /sign-in?name=admin&password=${secret}&next=%2F`),
    await send(`GET http://x/sign-in?password=${secret}`),
    await send(`PUT //sign-in?password=${secret}`),
    await send("POST /sign-in", `name=admin&password=${secret}`),
    await send("POST /sign-in", `name=${secret}&password=x`),
  ];

  assert.match(shown[0] ?? "", /^HTTP\/1\.1 200/);
  for (const text of shown.slice(0, 4)) assert.ok(!text.includes(secret), text);
  assert.doesNotMatch(service.output(), /zebra|orbit/);
  assert.match(
    service.output(),
    /sign-in: refused: somebody under a name that no account has from 127\.0\.0\.1/,
  );
});

test("invalid fields and very long texts are refused and break nothing", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const odd = [
    "\0",
    "\u{d800}",
    "ﷺ".repeat(60),
    "x".repeat(20_000),
    "a\u0301".repeat(5000),
    "' OR 1=1 --",
    "%00",
  ];
  const statuses = new Set<number>();

  for (const text of odd) {
    statuses.add((await app.post("/sign-in", { name: text, password: text, next: text })).status);
    statuses.add((await app.post("/sign-in", { name: "admin", password: text })).status);
    now += 24 * 60 * minute;
  }
  statuses.add((await app.fetch("/sign-in", { method: "POST" })).status);

  assert.deepEqual([...statuses], [422]);
  await signInAdmin(app);
});
