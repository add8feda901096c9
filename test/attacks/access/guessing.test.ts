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

/** What a failed attempt tells: all of the answer that is not its time, and how much work was done for it. */
async function whatIsTold({ app, post }: TestApp, name: string, password = "wrong horse battery") {
  const before = app.passwords.count;
  const answer = await post("/sign-in", { name, password });
  const headers = [...answer.headers].filter(([header]) => header !== "date" && header !== "content-length");
  const body = (await answer.text()).replaceAll(name, "NAME");
  return JSON.stringify([answer.status, headers, body, app.passwords.count - before]);
}

test("names are told apart by neither the answer nor the work, be they there, disabled or nobody's", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const admin = { cookie: await signInAdmin(app) };
  await addPerson(app, "there");
  await addAccount(app, "fresh");
  const disabled = await addPerson(app, "gone");
  assert.ok(disabled);
  const { id } = app.app.store.accounts.findByName("gone")?.account ?? {};
  await app.post(`/accounts/${id}/disable`, {}, admin);
  const told = new Set<string>();

  for (const [name, password] of [
    ["there"],
    ["fresh"],
    ["gone", ownPassword],
    ["admin"],
    ["nobody-at-all"],
    ["there", "x".repeat(5000)],
  ] as const) {
    told.add(await whatIsTold(app, name, password));
    now += 24 * 60 * minute;
  }

  assert.equal(told.size, 1, [...told].join("\n"));
});

test("guessing is slowed alike for a name that is there and one that is not, and the right password waits, too", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const slowed: string[] = [];

  for (const name of ["admin", "nobody-at-all"]) {
    for (let i = 0; i < 5; i++) await app.post("/sign-in", { name, password: `guess number ${i}` });
    slowed.push(await whatIsTold(app, name, name === "admin" ? adminPassword : "x"));
    now += 24 * 60 * minute;
  }

  assert.equal(slowed[0], slowed[1]);
  assert.match(slowed[0] ?? "", /^\[429,.*"retry-after","1"/);
  assert.match(slowed[0] ?? "", /Too many attempts failed\. Try again in 1 second\./);
  assert.match(slowed[0] ?? "", /,0\]$/);
  await signInAdmin(app);
});

test("guesses that are sent all at once count one by one", async (t) => {
  const app = await startClosed(t);

  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      app.post("/sign-in", { name: "admin", password: `guess number ${i}` }),
    ),
  );
  const statuses = answers.map(({ status }) => status);

  // Two are tried at a time, and the next one begins as one ends.
  const tried = statuses.filter((status) => status === 422).length;
  assert.ok(tried >= 5 && tried <= 7, `${tried}`);
  assert.equal(statuses.filter((status) => status === 429).length, 40 - tried);
});

test("who attacks the administrator's name locks nobody out who was signed in before, and can forge no proof of that", async (t) => {
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

test("who signs in at last has the earlier failures of that name and network forgiven", async (t) => {
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
