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
import { deepTest } from "../support/depth.ts";
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

test("simultaneous guesses from one network are counted one by one, under any names", async (t) => {
  const app = await startClosed(t);
  const guess = (i: number) => app.post("/sign-in", { name: `guess ${i % 9}`, password: `guess ${i} of 40` });

  const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => guess(i)));

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

test("guesses are counted for their name and their network, and a successful sign-in clears both", async (t) => {
  const { app } = await startClosed(t);
  const enter = (name: string, password: string, address: string) =>
    app.signIn.signIn({ name, password }, { address, browser: "" }).then(
      () => "signed in",
      ({ code }) => code,
    );

  for (let i = 0; i < 4; i++) await enter("admin", `guess number ${i}`, "192.0.2.7");
  await enter("admin", adminPassword, "192.0.2.7");
  const cleared = [
    await enter("admin", "one more guess", "198.51.100.7"),
    await enter("admin", adminPassword, "198.51.100.7"),
    await enter("nobody-at-all", "one more guess", "192.0.2.7"),
    await enter("admin", adminPassword, "192.0.2.7"),
  ];
  for (let i = 0; i < 5; i++) await enter("admin", "x", `10.0.${i}.1`);
  const ofName = [await enter("admin", adminPassword, "10.9.9.9"), await enter("jo", "x", "10.0.0.1")];

  assert.deepEqual(cleared, ["invalid", "signed in", "invalid", "signed in"]);
  assert.deepEqual(ofName, ["too-often", "invalid"]);
});

test("a viewer who sends wrong passwords from several browsers at once does not keep the administrator out", async (t) => {
  const app = await startClosed(t);
  const known = await signInAdmin(app);
  const cookies = [await addPerson(app, "eve")];
  while (cookies.length < 4) cookies.push(await signIn(app, "eve", ownPassword));
  let isOver = false;
  const floods: number[] = [];

  const flood = Array.from({ length: 12 }, async (_, i) => {
    const headers = { cookie: cookies[i % cookies.length] ?? "" };
    while (!isOver)
      floods.push(
        (await app.post("/account/password", { ...change, password: "not this one" }, headers)).status,
      );
  });
  const statuses: number[] = [];
  for (const cookie of [known, "", known, ""])
    statuses.push((await app.post("/sign-in", credentials, { cookie })).status);
  isOver = true;
  await Promise.all(flood);

  assert.deepEqual(statuses, [303, 303, 303, 303]);
  assert.ok(floods.length > 12 && !floods.includes(503), `${[...new Set(floods)]}`);
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
  for (let i = 0; i < 6; i++) {
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
