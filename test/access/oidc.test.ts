import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { nameInClaims, roleInClaims } from "../../src/domain/access/oidc.ts";
import { clientSecret, type IdentityProvider } from "../support/access/identity-provider.ts";
import { honest, origin, settingsFor, startWithProvider, withPassword } from "../support/access/oidc.ts";
import { adminPassword, cookiesOf, signInAdmin } from "../support/access/people.ts";
import { logEntries } from "../support/audit/audit.ts";
import { statusesOf } from "../support/deploy/answers.ts";

const html = { accept: "text/html" };
test("a person signs in at the provider, has the role of their groups, and signs out", async (t) => {
  const service = await startWithProvider(t);
  const { fetch, signIn, post, lines } = service;

  const answer = await signIn("/printers?q=hall");
  const cookie = cookiesOf(answer);
  const page = await (await fetch("/printers", { headers: { cookie } })).text();
  const made = await post("/clients", { name: "Contoso" }, { cookie });
  const accounts = await fetch("/accounts", { headers: { cookie } });
  const out = await post("/sign-out", {}, { cookie });
  const later = await fetch("/printers", { headers: { ...html, cookie } });

  assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/printers?q=hall"]);
  assert.match(
    answer.headers.getSetCookie()[0] ?? "",
    /^platen=[\w-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/,
  );
  assert.match(page, /<bdi>ada@contoso.com \(127\.0\.0\.1:\d+\)<\/bdi>.*Sign out/);
  assert.deepEqual([made.status, accounts.status], [200, 403]);
  assert.equal(out.headers.get("location"), "/sign-in?signed-out=1");
  assert.equal(later.headers.get("location"), "/sign-in?next=%2Fprinters");
  const events = (await logEntries(service)).filter(({ who }) => who.startsWith("ada@contoso.com ("));
  const signs = events.map(({ event }) => event).filter((event) => event.startsWith("sign"));
  assert.equal(signs.join(), "signed-in,signed-out");
  assert.ok(lines.some((line) => line.startsWith("sign-in: let in: “ada@contoso.com (")));
  const printed = JSON.stringify([lines, events]);
  for (const secret of [clientSecret, "access", "code-0"]) assert.ok(!printed.includes(secret), secret);
});

test("without passwords the sign-in page offers the provider alone, and after a sign-out its own sign-out", async (t) => {
  const { fetch, post, provider, signIn } = await startWithProvider(t);

  const page = await (await fetch("/sign-in?next=%2Fdrivers")).text();
  const posted = await post("/sign-in", { name: "admin", password: adminPassword });
  await signIn();
  const out = await (await fetch("/sign-in?signed-out=1")).text();

  assert.match(page, /href="\/sign-in\/oidc\?next=%2Fdrivers">Sign in with 127\.0\.0\.1/);
  assert.doesNotMatch(page, /name="password"/);
  assert.equal(posted.status, 404);
  const after = encodeURIComponent(`${origin}/sign-in`);
  const address = `${provider.issuer.origin}/end?client_id=platen&amp;post_logout_redirect_uri=${after}`;
  assert.ok(out.includes(`You are signed out of Platen. <a href="${address}">`), out);
});

const otherKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const lies: Record<string, (answers: IdentityProvider["answers"]) => unknown> = {
  "of another issuer": ({ claims }) => Object.assign(claims, { iss: "https://evil.example" }),
  "for another audience": ({ claims }) => Object.assign(claims, { aud: "other" }),
  "with another nonce": ({ claims }) => Object.assign(claims, { nonce: "other" }),
  "without a nonce": ({ claims }) => Object.assign(claims, { nonce: undefined }),
  "that has expired": ({ claims }) => Object.assign(claims, { exp: 1_700_000_000 }),
  "without a signature": ({ header }) => Object.assign(header, { alg: "none" }),
  "with a symmetric signature": ({ header }) => Object.assign(header, { alg: "HS256" }),
  "signed by another key": (answers) => Object.assign(answers, { key: otherKey }),
  "signed by an unknown key": (answers) => Object.assign(answers, { key: otherKey, header: { kid: "x" } }),
};

test("an ID token that is forged, foreign or old is refused, and the local administrator still gets in", async (t) => {
  let now = Date.now();
  const service = await startWithProvider(t, { ...withPassword, clock: () => now });
  const { answers } = service.provider;
  const { key } = answers;

  for (const [what, lie] of Object.entries(lies)) {
    Object.assign(answers, { claims: { ...honest }, header: {}, key });
    lie(answers);
    now += 60_000;
    const answer = await service.signIn();
    const page = await answer.text();
    assert.deepEqual([answer.status, cookiesOf(answer)], [403, ""], what);
    assert.match(page, /role="alert"[^>]*><p>Platen does not accept the answer of 127\.0\.0\.1:\d+: /, what);
    for (const way of ['name="password"', 'href="/sign-in/oidc"']) assert.ok(page.includes(way), page);
  }
  Object.assign(answers, { claims: { ...honest }, header: {}, key });
  now += 60_000;
  const right = await service.signIn();
  const cookie = await signInAdmin(service);
  const accounts = await service.fetch("/accounts", { headers: { cookie } });

  assert.deepEqual([right.status, accounts.status], [303, 200]);
  const refused = service.lines.filter((line) => line.startsWith("sign-in: refused at 127.0.0.1:"));
  assert.equal(refused.length, Object.keys(lies).length);
  assert.ok((await logEntries(service, "sign-in-failed")).length > 0);
});

test("a provider that is down, or that has another name, gives a page with the reason, and works when it is back", async (t) => {
  const service = await startWithProvider(t, withPassword);
  const { fetch, provider } = service;
  const { metadata } = provider.answers;

  metadata.issuer = "https://evil.example";
  const renamed = await fetch("/sign-in/oidc", { headers: html });
  delete metadata.issuer;
  const begun = await service.begin();
  await provider.stop();
  const down = await fetch(begun.answer, { headers: { ...html, cookie: begun.cookie } });
  const admin = await signInAdmin(service);

  assert.deepEqual([renamed.status, down.status], [403, 503]);
  assert.match(await down.text(), /role="alert"[^>]*><p>127\.0\.0\.1:\d+ does not answer/);
  assert.ok(service.lines.some((line) => /^refused with 503: 127\.0\.0\.1:\d+ does not answer/.test(line)));
  assert.notEqual(admin, "");
});

test("a refusal at the provider names its error, in one line of the log", async (t) => {
  const { signIn, begin, fetch, lines, provider } = await startWithProvider(t);
  const { answers } = provider;

  answers.refusal = { at: "authorization", error: "access_denied" };
  const declined = await signIn();
  answers.refusal = { at: "token", error: "invalid_client" };
  const unknown = await signIn();
  answers.refusal = { at: "token", error: "busy" };
  const busy = await signIn();
  for (let i = 0; i < 5; i++) await signIn();
  answers.refusal = undefined;
  const right = await signIn();
  const { answer, cookie } = await begin();
  // Anybody can send an answer with any text.
  const error = { error: "x\n2026 sign-in: let in: “admin”", error_description: "y".repeat(5000) };
  const state = new URLSearchParams(answer.split("?")[1]).get("state") ?? "";
  const query = new URLSearchParams({ ...error, state });
  const forged = await fetch(`/sign-in/oidc/callback?${query}`, { headers: { ...html, cookie } });

  assert.deepEqual([declined.status, unknown.status, forged.status], [403, 503, 403]);
  assert.match(await declined.text(), /refused the sign-in: access_denied\. Try again/);
  for (const refused of [unknown, busy])
    assert.match(await refused.text(), /does not answer, or refuses Platen\./);
  assert.deepEqual([busy.status, right.status], [503, 303], "the provider's own errors delay nobody");
  assert.ok((await forged.text()).length < 5000);
  assert.ok(lines.some((line) => /sign-in: refused at \S+ “invalid_client”/.test(line)));
  const logged = lines.filter((line) => line.includes("let in"));
  assert.deepEqual([logged.length, logged.some((line) => line.includes("\n"))], [2, false]);
});

test("a sign-in ends the session that the browser had, of either kind", async (t) => {
  const service = await startWithProvider(t, withPassword);
  const { begin, fetch, post } = service;
  const statusWith = async (cookie: string) => (await fetch("/printers", { headers: { cookie } })).status;

  const admin = await signInAdmin(service);
  const { answer, cookie } = await begin();
  const ada = cookiesOf(await fetch(answer, { headers: { ...html, cookie: `${cookie}; ${admin}` } }));
  const afterOidc = [await statusWith(admin), await statusWith(ada)];
  const form = { name: "admin", password: adminPassword };
  const again = cookiesOf(await post("/sign-in", form, { cookie: ada }));
  const afterPassword = [await statusWith(ada), await statusWith(again)];

  assert.deepEqual([...afterOidc, ...afterPassword], [401, 200, 401, 200]);
});

test("an answer is accepted once, in the browser that began, and within a quarter of an hour", async (t) => {
  let now = Date.now();
  const service = await startWithProvider(t, { clock: () => now });
  const { fetch, begin } = service;

  const first = await begin();
  const elsewhere = await fetch(first.answer, { headers: html });
  const other = await begin();
  const mixed = await fetch(first.answer, { headers: { ...html, cookie: other.cookie } });
  const headers = { ...html, cookie: first.cookie };
  const forged = await fetch(first.answer.replace(/state=[^.]*/, "state=x"), { headers });
  const right = await fetch(first.answer, { headers });
  const again = await fetch(first.answer, { headers });
  now += 16 * 60_000;
  const late = await fetch(other.answer, { headers: { ...html, cookie: other.cookie } });

  const answers = [elsewhere, mixed, forged, right, again, late];
  assert.deepEqual(statusesOf(answers), [403, 403, 403, 303, 403, 403]);
  assert.match(await late.text(), /took too long, or another tab began a new one/);
});

test("the next page is one of Platen's own", async (t) => {
  const { signIn } = await startWithProvider(t);

  const asked = ["//evil.example/", "https://evil.example/", "/sign-in/oidc", `/${"x".repeat(1500)}`];
  const locations: (string | null)[] = [];
  for (const next of [...asked, "/drivers"]) locations.push((await signIn(next)).headers.get("location"));

  assert.deepEqual(locations, ["/", "/", "/", "/", "/drivers"]);
});

test("a person's roles stand in a claim, which may have any depth, but be neither inherited nor unverified", () => {
  const settings = settingsFor(new URL("https://id.example"));
  const rows: readonly [Record<string, unknown>, string, string | undefined][] = [
    [{ groups: [] }, "groups", undefined],
    [{ groups: ["Techs", 7] }, "groups", undefined],
    [{}, "groups", undefined],
    [{ groups: "techs" }, "groups", "operator"],
    [{ groups: ["techs", "admins"] }, "groups", "admin"],
    [{ realm_access: { roles: ["techs"] } }, "realm_access.roles", "operator"],
    [{ realm_access: "techs" }, "realm_access.roles", undefined],
    [{ "https://x.example/roles": ["techs"] }, "https://x.example/roles", "operator"],
    [{}, "constructor.name", undefined],
    [{ email: "techs" }, "email", undefined],
    [{ email: "techs", email_verified: true }, "email", "operator"],
  ];

  for (const [claims, roleClaim, role] of rows)
    assert.equal(roleInClaims({ ...settings, roleClaim }, claims), role, JSON.stringify([claims, roleClaim]));
});

test("a person without a role is refused by name, and their groups and name are also read from the user information", async (t) => {
  const { signIn, provider, lines } = await startWithProvider(t);
  const { answers } = provider;

  answers.claims = { preferred_username: "ada" };
  const none = await signIn();
  answers.userinfo = { groups: ["techs"] };
  const right = await signIn();
  answers.userinfo = { groups: ["techs"], sub: "somebody else" };
  const wrong = await signIn();
  answers.claims = { groups: ["techs"] };
  answers.userinfo = { preferred_username: "eve@contoso.com" };
  const named = await signIn();

  assert.deepEqual(statusesOf([none, right, wrong, named]), [403, 303, 403, 303]);
  assert.match(await none.text(), /“ada \(127\.0\.0\.1:\d+\)”, but none of your groups has access/);
  assert.match(lines.join("\n"), /sign-in: refused at 127\.0\.0\.1:\d+: “ada \(\S+\) has no role”/);
  assert.match(lines.join("\n"), /sign-in: let in: “eve@contoso\.com \(/);
});

test("a name of the provider has its suffix, and none has a name that the audit log uses otherwise", async (t) => {
  const { signIn, provider, app, lines } = await startWithProvider(t, withPassword);
  await app.store.accounts.add("bob", "viewer");
  const email = "eve@contoso.com";
  const names: readonly [Record<string, unknown>, string | undefined][] = [
    [{ preferred_username: "ADMIN", name: "Ada" }, "ADMIN"],
    [{ preferred_username: "token x", email }, email],
    [{ preferred_username: "token x", email, email_verified: false, name: "Ada" }, "Ada"],
    [{ preferred_username: "\u202eada", sub: "user-1" }, "user-1"],
    [{ preferred_username: "admin\ufe0f", email }, email],
    [{ preferred_username: "ｔoken x", name: "\u2800", email }, email],
    [{ preferred_username: "x".repeat(121), sub: "nobody" }, undefined],
  ];

  provider.answers.claims = { ...honest, preferred_username: "Bob" };
  await signIn();

  assert.match(lines.join("\n"), /let in: “Bob \(127\.0\.0\.1:\d+\)”/);
  for (const [claims, name] of names) assert.equal(nameInClaims(claims), name, JSON.stringify(claims));
});

test("a new key of the provider is read, at most once a minute", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const { signIn, provider } = await startWithProvider(t);

  await signIn();
  provider.rotateKey();
  const early = await signIn();
  t.mock.timers.tick(61_000);
  const later = await signIn();

  assert.deepEqual([early.status, later.status], [403, 303]);
  assert.equal(provider.requests.filter((request) => request === "GET /keys").length, 2);
});

test("a session lasts twelve hours; the provider's addresses are read once an hour, and its keys once", async (t) => {
  let now = Date.now();
  const { signIn, fetch, provider } = await startWithProvider(t, { clock: () => now });
  const counts = () =>
    ["/.well-known/openid-configuration", "/keys"].map(
      (path) => provider.requests.filter((request) => request === `GET ${path}`).length,
    );

  const cookie = cookiesOf(await signIn());
  await signIn();
  const first = counts();
  now += 3_600_000;
  await signIn();
  const hourLater = counts();
  now += 11 * 3_600_000 - 1000;
  const before = (await fetch("/printers", { headers: { cookie } })).status;
  now += 1000;
  const after = (await fetch("/printers", { headers: { ...html, cookie } })).status;

  assert.deepEqual([...first, ...hourLater], [1, 1, 2, 1]);
  assert.deepEqual([before, after], [200, 303]);
});
