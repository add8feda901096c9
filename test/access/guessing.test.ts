import assert from "node:assert/strict";
import { availableParallelism, loadavg } from "node:os";
import { test } from "node:test";
import { signInNetwork } from "../../src/domain/address.ts";
import { UserError } from "../../src/domain/errors.ts";
import { dayMs } from "../../src/domain/text.ts";
import { Passwords } from "../../src/services/access/passwords.ts";
import { FailedAttempts, type FailureKey } from "../../src/services/access/sign-in.ts";
import {
  addAccount,
  addPerson,
  adminPassword,
  cookiesOf,
  ownPassword,
  signIn,
  signInAdmin,
  startClosed,
} from "../support/access/people.ts";
import { client, type TestApp, temporaryFolder } from "../support/app.ts";
import { entriesIn } from "../support/audit/audit.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { serve } from "../support/service.ts";

const start = Date.UTC(2026, 10, 21);
const credentials = { name: "admin", password: adminPassword };
const change = { password: ownPassword, chosen: "quiet marble sunrise", again: "quiet marble sunrise" };
const statusesIn = (answers: readonly { readonly status: number }[]) => answers.map(({ status }) => status);

/** A counter of failed attempts whose clock the test sets. */
function counting() {
  const clock = { now: start };
  return { clock, failed: new FailedAttempts(() => clock.now) };
}

test("the fifth failure costs a second, and each further one doubles the wait", () => {
  const waitsUnder = (key: FailureKey) => {
    const { clock, failed } = counting();
    return Array.from({ length: 40 }, () => {
      failed.add([key]);
      const waitMs = failed.waitMs([key]);
      clock.now += waitMs;
      return waitMs / 1000;
    });
  };

  const [network, name] = [waitsUnder("network 192.0.2"), waitsUnder("name jo")];

  assert.deepEqual(network.slice(0, 9), [0, 0, 0, 0, 1, 2, 4, 8, 16]);
  assert.deepEqual([network.at(-1), name.at(-1)], [900, 30]);
});

test("the longest wait of several keys counts, and other keys do not wait", () => {
  const { failed } = counting();
  for (let i = 0; i < 7; i++) failed.add([`name ${i}`, "network 192.0.2"]);

  assert.equal(failed.waitMs(["name 0", "network 192.0.2"]), 4000);
  assert.equal(failed.waitMs(["name 0", "network 192.0.3"]), 0);
  assert.equal(failed.waitMs(["browser known"]), 0);
});

test("a success clears the failures, and so do two hours without a failure", () => {
  const { clock, failed } = counting();
  const keys = ["name jo", "network 192.0.2"] as const;
  const waitAfterFive = () => {
    for (let i = 0; i < 5; i++) failed.add(keys);
    return failed.waitMs(keys);
  };

  const first = waitAfterFive();
  failed.clear(keys);
  const forgiven = failed.waitMs(keys);
  const second = waitAfterFive();
  clock.now += 2 * 60 * 60_000;
  const third = waitAfterFive();

  assert.deepEqual([first, forgiven, second, third], [1000, 0, 1000, 1000]);
});

test("guesses from one network delay the owner of a name by at most half a minute", () => {
  const { clock, failed } = counting();
  const strangers = ["name admin", "network 192.0.2"] as const;
  const waits: number[] = [];

  for (let i = 0; i < 24 * 60 * 60; i++, clock.now += 1000) {
    if (failed.waitMs(strangers) === 0) failed.add(strangers);
    waits.push(failed.waitMs(["name admin", "network 198.51.100"]));
  }

  assert.ok(Math.max(...waits) <= 30_000, `${Math.max(...waits)}`);
  assert.ok(waits.filter((ms) => ms > 0).length < 24 * 60 * 60 * 0.05);
});

test("an IPv4 /24 and an IPv6 /64 are one network each, in any spelling of an address", () => {
  const networks = {
    "192.0.2": ["192.0.2.7", "::ffff:192.0.2.9"],
    "192.0.3": ["192.0.3.7"],
    "2001:db8:1:2": ["2001:db8:1:2::1", "2001:DB8:1:2:ffff::7"],
    "2001:db8:1:3": ["2001:db8:1:3::1"],
  };

  for (const [network, addresses] of Object.entries(networks))
    for (const address of addresses) assert.equal(signInNetwork(address), network, address);
});

for (const [what, addressOf] of [
  ["a /64", (i: number) => `2001:db8:1:2:${(i % 65536).toString(16)}::${(i % 6007).toString(16)}`],
  ["an IPv4 network", (i: number) => `${["192.0.2.", "::ffff:192.0.2."][i % 2]}${i % 256}`],
] as const)
  test(`a host that uses another address of ${what} and another name for each guess gets few guesses a day`, () => {
    const { clock, failed } = counting();
    let through = 0;

    for (let i = 0; i < 24 * 60 * 60; i++, clock.now += 1000) {
      const keys = [`name name ${i}`, `network ${signInNetwork(addressOf(i))}`] as const;
      if (failed.waitMs(keys) > 0) continue;
      failed.add(keys);
      through++;
    }

    assert.ok(through < 250, `${through}`);
  });

/** The answer to a failed attempt without its date, and the number of hashes computed for it. */
async function failedAttempt({ app, post }: TestApp, name: string, password = "wrong horse battery") {
  const before = app.passwords.hashCount;
  const answer = await post("/sign-in", { name, password });
  const headers = [...answer.headers].filter(([header]) => header !== "date" && header !== "content-length");
  const body = (await answer.text()).replaceAll(name, "NAME");
  return JSON.stringify([answer.status, headers, body, app.passwords.hashCount - before]);
}

test("only the logs tell existing, unknown, disabled and overdue accounts apart, and the work is the same", async (t) => {
  let now = start;
  const app = await startClosed(t, { clock: () => now });
  const late = await addAccount(app, "overdue");
  const { passwords, store } = app.app;
  const hash = await passwords.hash(ownPassword);
  await store.accounts.add("there", "viewer", hash);
  await store.accounts.setDisabled(await store.accounts.add("gone", "viewer", hash), true);
  now += 7 * dayMs;
  await addAccount(app, "fresh");
  const answers = new Set<string>();
  const attempts: readonly (readonly [string, string | undefined, string])[] = [
    ["fresh", undefined, "wrong password"],
    ["gone", ownPassword, "the account is disabled"],
    ["gone", undefined, "wrong password"],
    ["overdue", late, "its one-time password is over"],
    ["overdue", undefined, "wrong password"],
    ["there", undefined, "wrong password"],
    ["there", "x".repeat(5000), "wrong password"],
    ["admin", undefined, "wrong password"],
  ];

  for (const [name, password] of [...attempts, ["nobody-at-all"]] as const) {
    answers.add(await failedAttempt(app, name, password));
    now += dayMs;
  }
  await app.stop();

  const entries = entriesIn(app.dataDir).filter(({ event }) => event === "sign-in-failed");
  const lines = app.lines.filter((line) => line.startsWith("sign-in: refused: "));
  assert.equal(answers.size, 1, [...answers].join("\n"));
  assert.deepEqual(
    entries.slice(0, -1).map(({ who, what }) => [who, what]),
    attempts.map(([who, , why]) => [who, why]),
  );
  assert.deepEqual(
    lines.slice(0, -1),
    attempts.map(([who, , why]) => `sign-in: refused: “${who}” from 127.0.0.1 (${why})`),
  );
});

test("guesses are slowed the same for existing and unknown names, and the right password has to wait, too", async (t) => {
  let now = start;
  const app = await startClosed(t, { clock: () => now });
  const slowed: string[] = [];

  for (const name of ["admin", "nobody-at-all"]) {
    for (let i = 0; i < 5; i++) await app.post("/sign-in", { name, password: `guess number ${i}` });
    slowed.push(await failedAttempt(app, name, name === "admin" ? adminPassword : "x"));
    now += dayMs;
  }

  assert.equal(slowed[0], slowed[1]);
  assert.match(slowed[0] ?? "", /^\[429,.*"retry-after","1"/);
  assert.match(slowed[0] ?? "", /Too many attempts failed\. Try again in 1 second\./);
  assert.match(slowed[0] ?? "", /,0\]$/);
  await signInAdmin(app);
});

test("simultaneous guesses are counted one by one", async (t) => {
  const app = await startClosed(t);

  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      app.post("/sign-in", { name: "admin", password: `guess ${i} of 40` }),
    ),
  );

  // Two are hashed at a time, and the next one starts when one ends.
  const tried = answers.filter(({ status }) => status === 422).length;
  assert.ok(tried >= 5 && tried <= 7, `${tried}`);
  assert.equal(answers.filter(({ status }) => status === 429).length, 40 - tried);
});

test("attacks on the administrator's name do not lock out known browsers, and device cookies cannot be forged", async (t) => {
  const app = await startClosed(t);
  const known = (await signInAdmin(app)).split("; ").find((pair) => pair.startsWith("platen-device=")) ?? "";
  await addPerson(app, "jo");
  const other = (await signIn(app, "jo", ownPassword)).split("; ")[1] ?? "";
  for (let i = 0; i < 20; i++) await app.post("/sign-in", { name: "admin", password: `guess number ${i}` });
  const attempt = async (cookie: string) => (await app.post("/sign-in", credentials, { cookie })).status;
  const [expiry = "", nonce = "", mac = ""] = known.slice("platen-device=".length).split(".");

  for (const forged of [
    "",
    other,
    `platen-device=zzzzzzz.${nonce}.${mac}`,
    `platen-device=${expiry}.AAAAAAAAAAAA.${mac}`,
    `platen-device=${expiry}.${nonce}.${"A".repeat(43)}`,
    `platen-device=${expiry}.${nonce}.${mac}.`,
    `${known}; ${known}`,
  ])
    assert.equal(await attempt(forged), 429, forged);
  assert.equal(await attempt(known), 303);
});

test("a successful sign-in clears the earlier failures of its name and network", async (t) => {
  const { app } = await startClosed(t);
  const enter = (name: string, password: string, address: string) =>
    app.signIn.signIn({ name, password }, { address, browser: "" }).then(
      () => "signed in",
      ({ code }) => code,
    );

  for (let i = 0; i < 4; i++) await enter("admin", `guess number ${i}`, "192.0.2.7");
  await enter("admin", adminPassword, "192.0.2.7");
  const outcomes = [
    await enter("admin", "one more guess", "198.51.100.7"),
    await enter("admin", adminPassword, "198.51.100.7"),
    await enter("nobody-at-all", "one more guess", "192.0.2.7"),
    await enter("admin", adminPassword, "192.0.2.7"),
  ];

  assert.deepEqual(outcomes, ["invalid", "signed in", "invalid", "signed in"]);
});

/** Keeps `count` requests under way. @returns a function that ends the flood and returns the statuses */
function flood(count: number, ask: (i: number) => Promise<{ readonly status: number }>) {
  let isOver = false;
  const statuses: number[] = [];
  const runs = Array.from({ length: count }, async (_, i) => {
    while (!isOver) statuses.push((await ask(i)).status);
  });
  return async () => {
    isOver = true;
    await Promise.all(runs);
    return statuses;
  };
}

for (const [what, wrong] of [
  ["a right password and a bad new one", { chosen: "x" }],
  ["wrong passwords", { password: "not this one at all" }],
] as const)
  test(`a viewer who sends ${what} from several browsers at once does not keep the administrator out`, async (t) => {
    const app = await startClosed(t);
    const known = await signInAdmin(app);
    const cookies = [await addPerson(app, "eve")];
    const browsers = rounds(4, 7);
    while (cookies.length < browsers) cookies.push(await signIn(app, "eve", ownPassword));

    const end = flood(browsers * 3, (i) =>
      app.post("/account/password", { ...change, ...wrong }, { cookie: cookies[i % browsers] ?? "" }),
    );
    const statuses: number[] = [];
    for (const cookie of [known, "", known, ""])
      statuses.push((await app.post("/sign-in", credentials, { cookie })).status);
    const floods = await end();

    assert.deepEqual(statuses, [303, 303, 303, 303]);
    assert.ok(floods.length > browsers * 3 && !floods.includes(503), `${[...new Set(floods)]}`);
  });

test("twenty people behind one address can sign in simultaneously in new browsers", async (t) => {
  const { app, post } = await startClosed(t);
  const people = Array.from({ length: 20 }, async (_, i) => {
    const { password, hash } = await app.passwords.makeOneTime();
    await app.store.accounts.add(`technician-${i}`, "operator", hash);
    return { name: `technician-${i}`, password };
  });
  const all = await Promise.all(people);

  const answers = await Promise.all(all.map((person) => post("/sign-in", person)));

  assert.deepEqual(statusesIn(answers), Array(20).fill(303));
});

deepTest("twenty people behind one address sign in at one moment within five seconds", async (t) => {
  const { url } = await serve(t, await temporaryFolder(t), { ADMIN_PASSWORD: adminPassword });
  const { post } = client(url);
  const admin = { cookie: cookiesOf(await post("/sign-in", credentials)) };
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
  assert.deepEqual(statusesIn(answers), Array(20).fill(303));
  if (isIdle) assert.ok(ms < 5000, `${ms} ms`);
});

test("one person can sign in twenty times simultaneously, also after wrong passwords", async (t) => {
  const { post } = await startClosed(t);
  for (let i = 0; i < 4; i++) await post("/sign-in", { name: "admin", password: "not this one" });

  const answers = await Promise.all(Array.from({ length: 20 }, () => post("/sign-in", credentials)));

  assert.deepEqual(statusesIn(answers), Array(20).fill(303));
});

test("during a flood of guesses from one network, other requests and known browsers are answered", async (t) => {
  const app = await startClosed(t);
  const known = await signInAdmin(app);
  const device = { cookie: known.split("; ")[1] ?? "" };
  const before = app.app.passwords.hashCount;

  const end = flood(30, (i) => app.post("/sign-in", { name: `guess ${i}`, password: "not this one at all" }));
  for (let i = 0; i < 2; i++) {
    assert.equal((await app.fetch("/health")).status, 200);
    assert.equal((await app.fetch("/clients", { headers: { cookie: known } })).status, 200);
    assert.equal((await app.post("/sign-in", credentials, device)).status, 303);
  }
  const floods = await end();

  assert.deepEqual(new Set(floods.filter((status) => status !== 503)), new Set([422, 429]));
  assert.ok(app.app.passwords.hashCount - before <= 7 + 2, `${app.app.passwords.hashCount - before} hashes`);
});

test("a flood of guesses from a hundred networks does not keep known browsers out", async (t) => {
  const app = await startClosed(t);
  const device = { cookie: (await signInAdmin(app)).split("; ")[1] ?? "" };
  const { passwords } = app.app;

  const guesses = Promise.allSettled(
    Array.from({ length: 100 }, (_, i) => passwords.verify("not this", undefined, () => {}, `10.0.${i}.1`)),
  );
  const later = await app.post("/sign-in", credentials, device);

  assert.equal(later.status, 303);
  assert.equal((await guesses).filter(({ status }) => status === "rejected").length, 36);
});

test("a bad new password causes no hash and tells nothing about the current one", async (t) => {
  const app = await startClosed(t);
  const cookie = await addPerson(app, "eve");
  const before = app.app.passwords.hashCount;

  const pages: string[] = [];
  for (const password of [ownPassword, "not this one at all"])
    for (const bad of [{ chosen: "x" }, { again: "quiet marble" }, { chosen: password, again: password }]) {
      const answer = await app.post("/account/password", { ...change, password, ...bad }, { cookie });
      pages.push(`${answer.status} ${await answer.text()}`);
    }

  assert.equal(app.app.passwords.hashCount, before);
  assert.deepEqual(pages.slice(0, 3), pages.slice(3));
});

test("an attempt that is refused because too many wait does not count as a guess", async (t) => {
  const app = await startClosed(t);
  const jo = { cookie: await addPerson(app, "jo") };
  const { mock } = t.mock.method(Passwords.prototype, "verify", async () => {
    throw new UserError("busy", "Too many sign-ins at the moment.");
  });

  const full: (string | number | null)[] = [];
  for (let i = 0; i < 15; i++) {
    full.push((await app.post("/account/password", change, jo)).status);
    const { status, headers } = await app.post("/sign-in", { name: "jo", password: ownPassword });
    full.push(status, headers.get("retry-after"));
  }
  mock.restore();
  await signIn(app, "jo", ownPassword);
  const changed = await app.post("/account/password", change, jo);

  assert.deepEqual(new Set(full), new Set([503, "5"]));
  assert.equal(changed.status, 303, await changed.text());
});
