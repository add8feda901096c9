import assert from "node:assert/strict";
import { availableParallelism, loadavg } from "node:os";
import { type TestContext, test } from "node:test";
import { adminPassword, cookiesOf } from "../../support/access/people.ts";
import { client, navigation, temporaryFolder } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";
import { exchange, statusOf } from "../../support/raw.ts";
import { serve } from "../../support/service.ts";

/** The bundled program with sign-in on, asked by name and path. */
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

deepTest(
  "of two changes of a password at once one counts, and the other says that it was late",
  async (t) => {
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
  },
);

deepTest(
  "who signs in in two tabs, at once or one after the other, is in by the last cookie, and no session is left over",
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

test("nobody is signed out by an address, an image or a link", async (t) => {
  const { fetch, status, admin } = await start(t);
  const asked = [
    await fetch("/sign-out", { headers: { ...admin, ...navigation } }),
    await fetch("/sign-out", { headers: { ...admin, accept: "image/*" } }),
    await fetch("/sign-out", { method: "HEAD", headers: admin }),
    await fetch("/sign-out?_method=POST", { headers: { ...admin, "x-http-method-override": "POST" } }),
  ];

  assert.deepEqual(
    asked.map(({ status }) => status),
    [303, 405, 405, 405],
  );
  for (const answer of asked) assert.deepEqual(answer.headers.getSetCookie(), []);
  assert.equal(await status(admin.cookie), 200);
});

deepTest(
  "behind https a cookie without the prefix that another host can set neither signs in nor gets in the way",
  async (t) => {
    const { status, signIn, admin } = await start(t, { PUBLIC_URL: "https://platen.example" });
    const planted = (await signIn("admin", adminPassword)).replaceAll("__Host-", "");
    const mine = admin.cookie.split("; ").find((pair) => pair.startsWith("__Host-platen=")) ?? "";

    const statuses = [
      await status(mine),
      await status(planted),
      await status(`${planted}; ${mine}`),
      await status(`${mine}; ${planted}`),
      await status(`${mine}; ${planted.replace("platen=", "__Host-platen=")}`),
      await status(mine.replace("__Host-", "__host-")),
      await status(mine.replace("__Host-platen", "__Host-platen ")),
    ];

    assert.deepEqual(statuses, [200, 401, 200, 200, 401, 401, 401]);
  },
);

deepTest("over plain http a cookie with the prefix of https is none", async (t) => {
  const { status, admin } = await start(t);

  const prefixed = admin.cookie.replace("platen=", "__Host-platen=");

  assert.deepEqual([await status(admin.cookie), await status(prefixed)], [200, 401]);
});

test("a session that somebody planted is neither kept nor raised when its browser signs in", async (t) => {
  const { status, signIn, addPerson } = await start(t);
  const planted = await addPerson("jo", "velvet harbour sixteen");

  const made = await signIn("admin", adminPassword, planted);

  assert.notEqual(made.split(";")[0], planted.split(";")[0]);
  assert.deepEqual([await status(planted), await status(made)], [401, 200]);
});

test("a session's cookie counts under its own name alone, however that begins", async (t) => {
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
