import assert from "node:assert/strict";
import crypto from "node:crypto";
import { mock, test } from "node:test";
import { signInNetwork } from "../../src/domain/address.ts";
import { UserError } from "../../src/domain/errors.ts";
import { dayMs } from "../../src/domain/text.ts";
import { Passwords } from "../../src/services/access/passwords.ts";
import { FailedAttempts, type FailureKey } from "../../src/services/access/sign-in.ts";
import {
  addAccount,
  addPerson,
  adminPassword,
  ownPassword,
  signIn,
  signInAdmin,
  startClosed,
} from "../support/access/people.ts";
import type { TestApp } from "../support/app.ts";
import { entriesIn } from "../support/audit/audit.ts";

const start = Date.UTC(2026, 10, 21);
const credentials = { name: "admin", password: adminPassword };
const change = { password: ownPassword, chosen: "quiet marble sunrise", again: "quiet marble sunrise" };

/** A counter of failed attempts whose clock the test sets. */
function counting() {
  const clock = { now: start };
  return { clock, failed: new FailedAttempts(() => clock.now, new Uint8Array(32)) };
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

test("the longest wait of several keys counts, a success clears them, and so do two hours without a failure", () => {
  const { clock, failed } = counting();
  const waits = () =>
    [
      ["name 0", "network 192.0.2"],
      ["name 0", "network 192.0.3"],
      ["network 192.0.2"],
      ["browser known"],
    ].map((keys) => failed.waitMs(keys as FailureKey[]));
  const failSevenTimes = () => {
    for (let i = 0; i < 7; i++) failed.add([`name ${i}`, "network 192.0.2"]);
  };

  failSevenTimes();
  const first = waits();
  failed.clear(["name 0", "network 192.0.2"]);
  const forgiven = waits();
  failSevenTimes();
  clock.now += 2 * 60 * 60_000;
  failSevenTimes();
  const later = waits();

  assert.deepEqual([first, forgiven, later], [[4000, 0, 4000, 0], Array(4).fill(0), [4000, 0, 4000, 0]]);
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
async function failedAttempt({ post }: TestApp, name: string, password = "wrong horse battery") {
  const hashes = mock.method(crypto, "scrypt");
  const answer = await post("/sign-in", { name, password });
  hashes.mock.restore();
  const headers = [...answer.headers].filter(([header]) => header !== "date" && header !== "content-length");
  const body = (await answer.text()).replaceAll(name, "NAME");
  return JSON.stringify([answer.status, headers, body, hashes.mock.callCount()]);
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
  const logged = entries.slice(0, -1).map(({ who, what }) => `${who}: ${what}`);
  assert.deepEqual(
    logged,
    attempts.map(([who, , why]) => `${who}: ${why}`),
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

test("wrong passwords where one is to be changed delay that browser alone, not the account's owner or others", async (t) => {
  const app = await startClosed(t);
  const [here, there] = [await addPerson(app, "eve"), await signIn(app, "eve", ownPassword)];
  const statuses: number[] = [];
  const post = async (path: string, fields: Record<string, string>, cookie = "") =>
    statuses.push((await app.post(path, fields, { cookie })).status);

  for (let i = 0; i < 6; i++) await post("/account/password", { ...change, password: `guess ${i}` }, here);
  await post("/account/password", change, here);
  await post("/sign-in", credentials);
  await post("/sign-in", { name: "eve", password: ownPassword });
  await post("/account/password", change, there);

  assert.deepEqual(statuses, [422, 422, 422, 422, 422, 429, 429, 303, 303, 303]);
});

test("one person can sign in twenty times simultaneously, also after wrong passwords", async (t) => {
  const { post } = await startClosed(t);
  for (let i = 0; i < 4; i++) await post("/sign-in", { name: "admin", password: "not this one" });

  const answers = await Promise.all(Array.from({ length: 20 }, () => post("/sign-in", credentials)));

  for (const { status } of answers) assert.equal(status, 303);
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
  const hashes = t.mock.method(crypto, "scrypt");

  const pages: string[] = [];
  for (const password of [ownPassword, "not this one at all"])
    for (const bad of [{ chosen: "x" }, { again: "quiet marble" }, { chosen: password, again: password }]) {
      const answer = await app.post("/account/password", { ...change, password, ...bad }, { cookie });
      pages.push(`${answer.status} ${await answer.text()}`);
    }

  assert.equal(hashes.mock.callCount(), 0);
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
