import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { type TestContext, test } from "node:test";
import type { OidcSettings } from "../../src/domain/access/oidc.ts";
import { Secret } from "../../src/domain/secrets.ts";
import {
  clientId,
  clientSecret,
  type IdentityProvider,
  startProvider,
} from "../support/access/identity-provider.ts";
import { adminPassword, cookiesOf, signInAdmin } from "../support/access/people.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";

const html = { accept: "text/html" };
const origin = "http://127.0.0.1:9";

interface Signing extends TestApp {
  readonly provider: IdentityProvider;
  /** Goes through the whole sign-in as a browser does. @returns Platen's last answer */
  signIn(next?: string): Promise<Response>;
  /** Begins a sign-in. @returns the provider's answer, as path and query, and the browser's cookie */
  begin(next?: string): Promise<{ readonly answer: string; readonly cookie: string }>;
}

async function start(
  t: TestContext,
  settings: Partial<OidcSettings> = {},
  options: Parameters<typeof startApp>[1] = {},
): Promise<Signing> {
  const provider = await startProvider(t);
  provider.answers.claims = { preferred_username: "ada@contoso.com", groups: ["techs"] };
  const oidc = {
    issuer: provider.issuer,
    clientId,
    secret: new Secret(clientSecret),
    secretFile: undefined,
    roleClaim: "groups",
    roles: [
      { role: "admin", group: "admins" },
      { role: "operator", group: "techs" },
    ],
    ...settings,
  } as const;
  const service = await startApp(t, { oidc, publicUrl: origin, clock: Date.now, ...options });
  const begin = async (next?: string) => {
    const begun = await service.fetch(
      `/sign-in/oidc${next === undefined ? "" : `?next=${encodeURIComponent(next)}`}`,
    );
    assert.equal(begun.status, 303, await begun.text());
    const answer = await fetch(begun.headers.get("location") ?? "", { redirect: "manual" });
    const back = new URL(answer.headers.get("location") ?? "");
    assert.equal(`${back.origin}${back.pathname}`, `${origin}/sign-in/oidc/callback`);
    return { answer: back.pathname + back.search, cookie: cookiesOf(begun) };
  };
  const signIn = async (next?: string) => {
    const { answer, cookie } = await begin(next);
    return service.fetch(answer, { headers: { ...html, cookie } });
  };
  return { ...service, provider, begin, signIn };
}

test("a person signs in at the provider, has the role of their groups, and signs out", async (t) => {
  const service = await start(t);
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
  assert.match(page, /<bdi>ada@contoso.com<\/bdi>.*Sign out/);
  assert.deepEqual([made.status, accounts.status], [200, 403]);
  assert.equal(out.headers.get("location"), "/sign-in?signed-out=1");
  assert.equal(later.headers.get("location"), "/sign-in?next=%2Fprinters");
  const events = (await logEntries(service)).filter(({ who }) => who === "ada@contoso.com");
  assert.deepEqual(
    events.map(({ event }) => event).filter((event) => /sign/.test(event)),
    ["signed-in", "signed-out"],
  );
  assert.ok(lines.some((line) => line.startsWith("sign-in: let in: “ada@contoso.com”")));
  const printed = JSON.stringify([lines, events]);
  for (const secret of [clientSecret, "access", "code-0"]) assert.ok(!printed.includes(secret), secret);
});

test("after a sign-out the page links to the provider's own", async (t) => {
  const { fetch, provider, app } = await start(t);
  await app.oidc?.check();

  const page = await (await fetch("/sign-in?signed-out=1")).text();

  const address = `${provider.issuer.origin}/end?client_id=platen&amp;post_logout_redirect_uri=${encodeURIComponent(`${origin}/sign-in`)}`;
  assert.ok(page.includes(`You are signed out of Platen. <a href="${address}">`), page);
});

const otherKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const lies: Record<string, (answers: IdentityProvider["answers"]) => void> = {
  "of another issuer": ({ claims }) => Object.assign(claims, { iss: "https://evil.example" }),
  "for another audience": ({ claims }) => Object.assign(claims, { aud: "other" }),
  "with another nonce": ({ claims }) => Object.assign(claims, { nonce: "other" }),
  "without a nonce": ({ claims }) => Object.assign(claims, { nonce: undefined }),
  "that has expired": ({ claims }) => Object.assign(claims, { exp: 1_700_000_000 }),
  "without a signature": ({ header }) => Object.assign(header, { alg: "none" }),
  "with a symmetric signature": ({ header }) => Object.assign(header, { alg: "HS256" }),
  "signed by another key": (answers) => Object.assign(answers, { key: otherKey }),
  "signed by an unknown key": (answers) => {
    answers.key = otherKey;
    answers.header = { kid: "unknown" };
  },
};

for (const [what, lie] of Object.entries(lies)) {
  test(`an ID token ${what} is refused, and the local administrator still gets in`, async (t) => {
    const service = await start(t, {}, { adminPassword: new Secret(adminPassword) });
    lie(service.provider.answers);

    const answer = await service.signIn();
    const page = await answer.text();
    const admin = await signInAdmin(service);
    const accounts = await service.fetch("/accounts", { headers: { cookie: admin } });

    assert.equal(answer.status, 403, page);
    assert.equal(cookiesOf(answer), "");
    assert.match(page, /role="alert"[^>]*><p>Platen does not accept the answer of 127\.0\.0\.1:\d+: /);
    assert.match(page, /name="password"/);
    assert.equal(accounts.status, 200);
    const refused = (await logEntries(service)).filter(({ event }) => event === "sign-in-failed");
    assert.equal(refused.length, 1);
  });
}

test("a provider that is down, or that has another name, gives a page with the reason, and works when it is back", async (t) => {
  const service = await start(t, {}, { adminPassword: new Secret(adminPassword) });
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

test("a refusal at the provider names its error", async (t) => {
  const service = await start(t);
  const { answers } = service.provider;

  answers.refusal = { at: "authorization", error: "access_denied" };
  const declined = await service.signIn();
  answers.refusal = { at: "token", error: "invalid_client" };
  const unknown = await service.signIn();

  assert.deepEqual([declined.status, unknown.status], [403, 503]);
  assert.match(await declined.text(), /refused the sign-in: access_denied\. Try again/);
  assert.match(await unknown.text(), /does not answer, or refuses Platen\./);
  assert.ok(service.lines.some((line) => /sign-in: refused at \S+ invalid_client/.test(line)));
});

test("text that anybody can send in an answer stays in one line of the log", async (t) => {
  const { begin, fetch, lines } = await start(t);
  const { answer, cookie } = await begin();
  const state = new URLSearchParams(answer.split("?")[1]).get("state") ?? "";
  const query = new URLSearchParams({
    error: "x\n2026 sign-in: let in: “admin”",
    error_description: "y".repeat(5000),
    state,
  });

  const refused = await fetch(`/sign-in/oidc/callback?${query}`, { headers: { ...html, cookie } });
  const page = await refused.text();

  assert.equal(refused.status, 403);
  assert.ok(page.length < 5000, String(page.length));
  const logged = lines.filter((line) => line.includes("let in"));
  assert.deepEqual([logged.length, logged.some((line) => line.includes("\n"))], [1, false]);
});

test("a sign-in ends the session that the browser had, of either kind", async (t) => {
  const service = await start(t, {}, { adminPassword: new Secret(adminPassword) });
  const { begin, fetch, post } = service;
  const statusWith = async (cookie: string) => (await fetch("/printers", { headers: { cookie } })).status;

  const admin = await signInAdmin(service);
  const { answer, cookie } = await begin();
  const ada = cookiesOf(await fetch(answer, { headers: { ...html, cookie: `${cookie}; ${admin}` } }));
  const afterOidc = [await statusWith(admin), await statusWith(ada)];
  const form = { name: "admin", password: adminPassword };
  const again = cookiesOf(await post("/sign-in", form, { cookie: ada }));
  const afterPassword = [await statusWith(ada), await statusWith(again)];

  assert.deepEqual(
    [afterOidc, afterPassword],
    [
      [401, 200],
      [401, 200],
    ],
  );
});

test("an answer is accepted once, in the browser that began, and within a quarter of an hour", async (t) => {
  let now = Date.now();
  const service = await start(t, {}, { clock: () => now });
  const { fetch, begin } = service;

  const first = await begin();
  const elsewhere = await fetch(first.answer, { headers: html });
  const other = await begin();
  const mixed = await fetch(first.answer, { headers: { ...html, cookie: other.cookie } });
  const forged = await fetch(first.answer.replace(/state=[^.]*/, "state=x"), {
    headers: { ...html, cookie: first.cookie },
  });
  const right = await fetch(first.answer, { headers: { ...html, cookie: first.cookie } });
  const again = await fetch(first.answer, { headers: { ...html, cookie: first.cookie } });
  now += 16 * 60_000;
  const late = await fetch(other.answer, { headers: { ...html, cookie: other.cookie } });

  assert.deepEqual(
    [elsewhere, mixed, forged, right, again, late].map(({ status }) => status),
    [403, 403, 403, 303, 403, 403],
  );
  assert.match(await late.text(), /took too long, or another tab began a new one/);
});

test("the next page is one of Platen's own", async (t) => {
  const { signIn } = await start(t);

  const locations: (string | null)[] = [];
  for (const next of [
    "//evil.example/",
    "https://evil.example/",
    "/sign-in/oidc",
    `/${"x".repeat(1500)}`,
    "/drivers",
  ])
    locations.push((await signIn(next)).headers.get("location"));

  assert.deepEqual(locations, ["/", "/", "/", "/", "/drivers"]);
});

test("a session ends after twelve hours", async (t) => {
  let now = Date.now();
  const { signIn, fetch } = await start(t, {}, { clock: () => now });

  const cookie = cookiesOf(await signIn());
  now += 12 * 3_600_000 - 1000;
  const before = (await fetch("/printers", { headers: { cookie } })).status;
  now += 1000;
  const after = (await fetch("/printers", { headers: { ...html, cookie } })).status;

  assert.deepEqual([before, after], [200, 303]);
});

const peopleWithRoles: readonly [string, Record<string, unknown>, Partial<OidcSettings>, number][] = [
  ["no group", { groups: [] }, {}, 403],
  ["no such claim", { groups: undefined }, {}, 403],
  ["a group as one text", { groups: "techs" }, {}, 303],
  [
    "roles in a claim within another",
    { realm_access: { roles: ["techs"] } },
    { roleClaim: "realm_access.roles" },
    303,
  ],
  [
    "a claim with dots in its name",
    { "https://x.example/roles": ["techs"] },
    { roleClaim: "https://x.example/roles" },
    303,
  ],
  ["an inherited property", {}, { roleClaim: "constructor.name" }, 403],
  ["an unverified address", { email: "techs" }, { roleClaim: "email" }, 403],
  ["a verified address", { email: "techs", email_verified: true }, { roleClaim: "email" }, 303],
];

for (const [who, claims, settings, status] of peopleWithRoles) {
  test(`a person with ${who} gets ${status}`, async (t) => {
    const { signIn, provider } = await start(t, settings);
    provider.answers.claims = { preferred_username: "ada", ...claims };

    const answer = await signIn();

    assert.equal(answer.status, status, await answer.text());
  });
}

test("the name is also read from the provider's user information", async (t) => {
  const { signIn, provider, lines } = await start(t);
  provider.answers.claims = { groups: ["techs"] };

  provider.answers.userinfo = { preferred_username: "ada@contoso.com" };
  const answer = await signIn();

  assert.equal(answer.status, 303);
  assert.ok(lines.some((line) => line.startsWith("sign-in: let in: “ada@contoso.com”")));
});

test("groups that only the provider's user information has give a role", async (t) => {
  const { signIn, provider } = await start(t);
  provider.answers.claims = { preferred_username: "ada" };

  provider.answers.userinfo = { groups: ["techs"] };
  const right = await signIn();
  provider.answers.userinfo = { groups: ["techs"], sub: "somebody else" };
  const wrong = await signIn();

  assert.deepEqual([right.status, wrong.status], [303, 403]);
});

test("nobody takes the name of an account, of the administrator or of the audit log", async (t) => {
  const { signIn, provider, app, fetch } = await start(t, {}, { adminPassword: new Secret(adminPassword) });
  await app.store.accounts.add("bob", "viewer");
  const nameOf = async (claims: Record<string, unknown>) => {
    provider.answers.claims = { groups: ["techs"], ...claims };
    const cookie = cookiesOf(await signIn());
    const page = await (await fetch("/printers", { headers: { cookie } })).text();
    return /<bdi>(.*?)<\/bdi>/.exec(page)?.[1]?.replace(/:\d+/, "");
  };

  const names = [
    await nameOf({ preferred_username: "Bob" }),
    await nameOf({ preferred_username: "ADMIN", name: "Ada" }),
    await nameOf({ preferred_username: "token x", email: "ada@contoso.com" }),
    await nameOf({ preferred_username: "\u202eada" }),
    await nameOf({ preferred_username: "admin\ufe0f", email: "eve@contoso.com" }),
    await nameOf({ preferred_username: "ａｄｍｉｎ", name: "\u2800", email: "eve@contoso.com" }),
  ];

  const eve = "eve@contoso.com";
  assert.deepEqual(names, ["Bob (127.0.0.1)", "Ada", "ada@contoso.com", "user-1", eve, eve]);
});

test("a new key of the provider is read, at most once a minute", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const { signIn, provider } = await start(t);

  await signIn();
  provider.rotateKey();
  const early = await signIn();
  t.mock.timers.tick(61_000);
  const later = await signIn();

  assert.deepEqual([early.status, later.status], [403, 303]);
  assert.equal(provider.requests.filter((request) => request === "GET /keys").length, 2);
});

test("the provider's addresses are and keys are kept for an hour and for five minutes", async (t) => {
  let now = Date.now();
  const { signIn, provider } = await start(t, {}, { clock: () => now });
  const count = (path: string) => provider.requests.filter((request) => request === `GET ${path}`).length;

  await signIn();
  await signIn();
  const first = [count("/.well-known/openid-configuration"), count("/keys")];
  now += 61 * 60_000;
  await signIn();
  const hourLater = [count("/.well-known/openid-configuration"), count("/keys")];

  assert.deepEqual(
    [first, hourLater],
    [
      [1, 1],
      [2, 1],
    ],
  );
});

test("the sign-in page offers the provider beside passwords, and alone without them", async (t) => {
  const alone = await start(t);
  const both = await start(t, {}, { adminPassword: new Secret(adminPassword) });

  const [one, two] = await Promise.all(
    [alone, both].map(async ({ fetch }) => (await fetch("/sign-in?next=%2Fdrivers")).text()),
  );
  const posted = await alone.post("/sign-in", { name: "admin", password: adminPassword });

  for (const page of [one, two])
    assert.match(page ?? "", /href="\/sign-in\/oidc\?next=%2Fdrivers">Sign in with 127\.0\.0\.1/);
  assert.deepEqual([/name="password"/.test(one ?? ""), /name="password"/.test(two ?? "")], [false, true]);
  assert.equal(posted.status, 404);
});
