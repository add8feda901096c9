import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addAccount,
  addPerson,
  adminPassword,
  ownPassword,
  signIn,
  signInAdmin,
  startClosed,
} from "../../support/access/people.ts";
import type { TestApp } from "../../support/app.ts";

const minute = 60_000;

/** The answer to a failed attempt without its date, and the number of hashes computed for it. */
async function failedAttempt({ app, post }: TestApp, name: string, password = "wrong horse battery") {
  const before = app.passwords.hashCount;
  const answer = await post("/sign-in", { name, password });
  const headers = [...answer.headers].filter(([header]) => header !== "date" && header !== "content-length");
  const body = (await answer.text()).replaceAll(name, "NAME");
  return JSON.stringify([answer.status, headers, body, app.passwords.hashCount - before]);
}

test("existing, disabled and unknown names get the same answer after the same work", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const admin = { cookie: await signInAdmin(app) };
  await addPerson(app, "there");
  await addAccount(app, "fresh");
  const disabled = await addPerson(app, "gone");
  assert.ok(disabled);
  const { id } = app.app.store.accounts.findByName("gone")?.account ?? {};
  await app.post(`/accounts/${id}/disable`, {}, admin);
  const distinctAnswers = new Set<string>();

  for (const [name, password] of [
    ["there"],
    ["fresh"],
    ["gone", ownPassword],
    ["admin"],
    ["nobody-at-all"],
    ["there", "x".repeat(5000)],
  ] as const) {
    distinctAnswers.add(await failedAttempt(app, name, password));
    now += 24 * 60 * minute;
  }

  assert.equal(distinctAnswers.size, 1, [...distinctAnswers].join("\n"));
});

test("guesses are slowed the same for existing and unknown names, and the right password has to wait, too", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const slowed: string[] = [];

  for (const name of ["admin", "nobody-at-all"]) {
    for (let i = 0; i < 5; i++) await app.post("/sign-in", { name, password: `guess number ${i}` });
    slowed.push(await failedAttempt(app, name, name === "admin" ? adminPassword : "x"));
    now += 24 * 60 * minute;
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
      app.post("/sign-in", { name: "admin", password: `guess number ${i}` }),
    ),
  );
  const statuses = answers.map(({ status }) => status);

  // Two are hashed at a time, and the next one starts when one ends.
  const tried = statuses.filter((status) => status === 422).length;
  assert.ok(tried >= 5 && tried <= 7, `${tried}`);
  assert.equal(statuses.filter((status) => status === 429).length, 40 - tried);
});

test("attacks on the administrator's name do not lock out known browsers, and device cookies cannot be forged", async (t) => {
  const app = await startClosed(t);
  const known = (await signInAdmin(app)).split("; ").find((pair) => pair.startsWith("platen-device=")) ?? "";
  await addPerson(app, "jo");
  const other = (await signIn(app, "jo", ownPassword)).split("; ")[1] ?? "";
  for (let i = 0; i < 20; i++) await app.post("/sign-in", { name: "admin", password: `guess number ${i}` });
  const attempt = async (cookie: string) =>
    (await app.post("/sign-in", { name: "admin", password: adminPassword }, { cookie })).status;
  const [expiry = "", nonce = "", mac = ""] = known.slice("platen-device=".length).split(".");

  const forged = [
    "",
    other,
    `platen-device=zzzzzzz.${nonce}.${mac}`,
    `platen-device=${expiry}.AAAAAAAAAAAA.${mac}`,
    `platen-device=${expiry}.${nonce}.${"A".repeat(43)}`,
    `platen-device=${expiry}.${nonce}.${mac}.`,
    `${known}; ${known}`,
  ];
  const refused: number[] = [];
  for (const cookie of forged) refused.push(await attempt(cookie));

  assert.deepEqual(
    refused,
    forged.map(() => 429),
  );
  assert.equal(await attempt(known), 303);
});

test("a successful sign-in clears the earlier failures of its name and network", async (t) => {
  const app = await startClosed(t);
  const enter = async (name: string, password: string, address: string) => {
    const { code } = await app.app.signIn.signIn({ name, password }, { address, browser: "" }).then(
      () => ({ code: "signed in" }),
      (error) => error,
    );
    return code;
  };
  const outcomes: string[] = [];

  for (let i = 0; i < 4; i++) await enter("admin", `guess number ${i}`, "192.0.2.7");
  await enter("admin", adminPassword, "192.0.2.7");
  outcomes.push(await enter("admin", "one more guess", "198.51.100.7"));
  outcomes.push(await enter("admin", adminPassword, "198.51.100.7"));
  outcomes.push(await enter("nobody-at-all", "one more guess", "192.0.2.7"));
  outcomes.push(await enter("admin", adminPassword, "192.0.2.7"));

  assert.deepEqual(outcomes, ["invalid", "signed in", "invalid", "signed in"]);
});
