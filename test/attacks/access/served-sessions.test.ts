import assert from "node:assert/strict";
import { availableParallelism, loadavg } from "node:os";
import { type TestContext, test } from "node:test";
import { adminPassword, cookiesOf } from "../../support/access/people.ts";
import { client, navigation, temporaryFolder } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";
import { exchange, statusOf } from "../../support/raw.ts";
import { serve } from "../../support/service.ts";

/** Starts the bundled program with sign-in on. */
async function start(t: TestContext, settings: Record<string, string> = {}) {
  const { url } = await serve(t, await temporaryFolder(t), { ADMIN_PASSWORD: adminPassword, ...settings });
  const { fetch, post } = client(url);
  const status = async (cookie: string) => (await fetch("/clients", { headers: { cookie } })).status;
  const signIn = async (name: string, password: string, cookie = "") => {
    const answer = await post("/sign-in", { name, password }, { cookie });
    assert.equal(answer.status, 303, await answer.text());
    return cookiesOf(answer);
  };
  const admin = { cookie: await signIn("admin", adminPassword) };
  const addPerson = async (name: string, own: string) => {
    const page = await (await post("/accounts", { name, role: "operator" }, admin)).text();
    const password = /id="one-time-password">([a-z0-9-]+)</.exec(page)?.[1] ?? "";
    const cookie = await signIn(name, password);
    const chosen = await post("/sign-in/password", { password, chosen: own, again: own }, { cookie });
    return cookiesOf(chosen);
  };
  return { fetch, post, status, signIn, admin, addPerson };
}

deepTest("of two simultaneous password changes, one succeeds and the other is refused as late", async (t) => {
  const { post, signIn, status, addPerson } = await start(t);
  const own = "velvet harbour sixteen";
  const [first, second] = [await addPerson("jo", own), await signIn("jo", own)];
  const change = (cookie: string, chosen: string) =>
    post("/account/password", { password: own, chosen, again: chosen }, { cookie });

  const answers = await Promise.all([
    change(first, "quiet marble sunrise"),
    change(second, "winter copper lantern"),
  ]);
  const statuses = answers.map((answer) => answer.status);
  const tried: number[] = [];
  for (const password of [own, "quiet marble sunrise", "winter copper lantern"])
    tried.push((await post("/sign-in", { name: "jo", password })).status);
  const winner = answers.find((answer) => answer.status === 303);

  assert.deepEqual(statuses.toSorted(), [303, 409]);
  assert.equal(tried[0], 422);
  assert.deepEqual(tried.slice(1).toSorted(), [303, 422]);
  assert.deepEqual([await status(first), await status(second)], [401, 401]);
  assert.equal(winner && (await status(cookiesOf(winner))), 200);
});

deepTest(
  "signing in in two tabs, simultaneously or in sequence, keeps the last cookie's session and no other",
  async (t) => {
    const { post, fetch, status, signIn } = await start(t);
    const before = await signIn("admin", adminPassword);

    const after = await signIn("admin", adminPassword, before);
    const both = await Promise.all([0, 1].map(() => signIn("admin", adminPassword, after)));
    const cookie = both[1] ?? "";
    const statuses = await Promise.all([before, after, ...both].map(status));
    await post("/account/sessions/end", {}, { cookie });
    const page = await (await fetch("/account", { headers: { cookie } })).text();

    assert.deepEqual(statuses, [401, 401, 200, 200]);
    assert.equal(page.match(/This browser/g)?.length, 1);
    assert.doesNotMatch(page, /sessions\/\d+\/end/);
  },
);

test("an address, an image or a link cannot sign anyone out", async (t) => {
  const { fetch, status, admin } = await start(t);
  const answers = [
    await fetch("/sign-out", { headers: { ...admin, ...navigation } }),
    await fetch("/sign-out", { headers: { ...admin, accept: "image/*" } }),
    await fetch("/sign-out", { method: "HEAD", headers: admin }),
    await fetch("/sign-out?_method=POST", { headers: { ...admin, "x-http-method-override": "POST" } }),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [303, 405, 405, 405],
  );
  for (const answer of answers) assert.deepEqual(answer.headers.getSetCookie(), []);
  assert.equal(await status(admin.cookie), 200);
});

deepTest("behind https, a cookie without the prefix, which another host can set, is ignored", async (t) => {
  const { status, signIn, admin } = await start(t, { PUBLIC_URL: "https://platen.example" });
  const planted = (await signIn("admin", adminPassword)).replaceAll("__Host-", "");
  const sessionCookie = admin.cookie.split("; ").find((pair) => pair.startsWith("__Host-platen=")) ?? "";

  const statuses = [
    await status(sessionCookie),
    await status(planted),
    await status(`${planted}; ${sessionCookie}`),
    await status(`${sessionCookie}; ${planted}`),
    await status(`${sessionCookie}; ${planted.replace("platen=", "__Host-platen=")}`),
    await status(sessionCookie.replace("__Host-", "__host-")),
    await status(sessionCookie.replace("__Host-platen", "__Host-platen ")),
  ];

  assert.deepEqual(statuses, [200, 401, 200, 200, 401, 401, 401]);
});

deepTest("over plain http a cookie with the prefix of https is none", async (t) => {
  const { status, admin } = await start(t);

  const prefixed = admin.cookie.replace("platen=", "__Host-platen=");

  assert.deepEqual([await status(admin.cookie), await status(prefixed)], [200, 401]);
});

test("a planted session is neither kept nor used when its browser signs in", async (t) => {
  const { status, signIn, addPerson } = await start(t);
  const planted = await addPerson("jo", "velvet harbour sixteen");

  const made = await signIn("admin", adminPassword, planted);

  assert.notEqual(made.split(";")[0], planted.split(";")[0]);
  assert.deepEqual([await status(planted), await status(made)], [401, 200]);
});

test("a session's cookie counts only under its exact name", async (t) => {
  const { url } = await serve(t, await temporaryFolder(t), {
    ADMIN_PASSWORD: adminPassword,
    PUBLIC_URL: "https://localhost",
  });
  const { post } = client(url);
  const cookie = cookiesOf(await post("/sign-in", { name: "admin", password: adminPassword }));
  const ask = async (before: string) => {
    const lines = [
      "GET /clients HTTP/1.1",
      "Host: localhost",
      "Connection: close",
      `Cookie: ${before}${cookie}`,
    ];
    return statusOf(await exchange(url, Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1")));
  };

  const same = await Promise.all(["", "a=b; ", "a=b;", "a=b;\t "].map(ask));
  const other = await Promise.all(["\xa0", "a=b;\xa0", "a=b; \x85", "\xc2\xa0", "x"].map(ask));

  assert.match(cookie, /^__Host-platen=/);
  assert.deepEqual(same, [200, 200, 200, 200]);
  assert.deepEqual(other, [401, 401, 401, 401, 401]);
});

deepTest("twenty people behind one address sign in at one moment within five seconds", async (t) => {
  const { post, admin } = await start(t);
  const people: { readonly name: string; readonly password: string }[] = [];
  for (let i = 0; i < 20; i++) {
    const name = `technician-${i}`;
    const page = await (await post("/accounts", { name, role: "operator" }, admin)).text();
    people.push({ name, password: /id="one-time-password">([a-z0-9-]+)</.exec(page)?.[1] ?? "" });
  }
  const isIdle = (loadavg()[0] ?? 0) < availableParallelism();
  const started = performance.now();

  const answers = await Promise.all(people.map((person) => post("/sign-in", person)));
  const ms = performance.now() - started;

  t.diagnostic(`${Math.round(ms)} ms${isIdle ? "" : " on a busy machine, where the time says nothing"}`);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([303]));
  if (isIdle) assert.ok(ms < 5000, `${ms} ms`);
});
