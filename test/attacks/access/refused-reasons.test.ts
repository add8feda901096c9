import assert from "node:assert/strict";
import { test } from "node:test";
import { addAccount, addPerson, ownPassword, signInAdmin, startClosed } from "../../support/access/people.ts";
import { entriesIn } from "../../support/audit/audit.ts";

const day = 24 * 60 * 60_000;

test("only the logs tell a right password of a disabled account, or an expired one, from a wrong password", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now });
  const late = await addAccount(app, "overdue");
  await addPerson(app, "gone");
  const { id } = app.app.store.accounts.findByName("gone")?.account ?? {};
  await app.post(`/accounts/${id}/disable`, {}, { cookie: await signInAdmin(app) });
  now += 7 * day;
  const tried: string[] = [];

  for (const [name, password] of [
    ["gone", ownPassword],
    ["gone", "not this one at all"],
    ["overdue", late],
    ["overdue", "not this one at all"],
  ] as const) {
    const before = app.app.passwords.hashCount;
    const answer = await app.post("/sign-in", { name, password });
    const text = (await answer.text()).replaceAll(name, "NAME");
    now += day;
    tried.push(JSON.stringify([answer.status, text, app.app.passwords.hashCount - before]));
  }
  await app.stop();
  const whys = entriesIn(app.dataDir).filter(({ event }) => event === "sign-in-failed");
  const lines = app.lines.filter((line) => line.startsWith("sign-in: refused: "));

  const expected = [
    ["gone", "the account is disabled"],
    ["gone", "wrong password"],
    ["overdue", "its one-time password is over"],
    ["overdue", "wrong password"],
  ];
  assert.equal(new Set(tried).size, 1, tried.join("\n"));
  assert.deepEqual(
    whys.map(({ who, what }) => [who, what]),
    expected,
  );
  assert.deepEqual(
    lines,
    expected.map(([who, why]) => `sign-in: refused: “${who}” from 127.0.0.1 (${why})`),
  );
});
