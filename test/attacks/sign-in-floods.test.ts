import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { networksOf } from "../../src/domain/site.ts";
import { Passwords } from "../../src/services/passwords.ts";
import type { TestApp } from "../support/app.ts";
import { addPerson, adminPassword, cookiesOf, ownPassword, signIn, startClosed } from "../support/people.ts";

const change = { password: ownPassword, chosen: "quiet marble sunrise", again: "quiet marble sunrise" };

/** Keeps so many requests under way until it is told to end. @returns what ends them, and answers their statuses */
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

/** How the administrator fares four times, two of them in a browser that is known. */
async function adminSignsIn(app: TestApp, known: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) {
    const cookie = i % 2 === 0 ? known : "";
    const answer = await app.post("/sign-in", { name: "admin", password: adminPassword }, { cookie });
    statuses.push(answer.status);
  }
  return statuses;
}

const letIn = Array.from({ length: 4 }, () => 303);

for (const [what, form] of [
  ["a right password and a bad new one", { ...change, chosen: "x" }],
  ["wrong passwords", { ...change, password: "not this one at all" }],
] as const) {
  test(`a viewer who sends ${what} from seven browsers at once keeps the administrator out of none`, async (t) => {
    const app = await startClosed(t);
    const known = await signIn(app, "admin", adminPassword);
    await addPerson(app, "eve");
    const cookies: string[] = [];
    for (let i = 0; i < 7; i++) cookies.push(await signIn(app, "eve", ownPassword));

    const end = flood(21, (i) => app.post("/account/password", form, { cookie: cookies[i % 7] ?? "" }));
    const statuses = await adminSignsIn(app, known);
    const floods = await end();

    assert.deepEqual(statuses, letIn);
    assert.ok(floods.length > 21 && !floods.includes(503), `${[...new Set(floods)]}`);
  });
}

test("a viewer who signs in forty times at once, in known browsers and new ones, keeps the administrator out of none", async (t) => {
  const app = await startClosed(t);
  const known = await signIn(app, "admin", adminPassword);
  await addPerson(app, "eve");
  const devices: string[] = [];
  for (let i = 0; i < 20; i++) {
    const answer = await app.post("/sign-in", { name: "eve", password: ownPassword });
    devices.push(cookiesOf(answer).split("; ")[1] ?? "");
  }

  const end = flood(40, (i) =>
    app.post("/sign-in", { name: "eve", password: ownPassword }, { cookie: devices[i] ?? "" }),
  );
  const statuses = await adminSignsIn(app, known);
  const floods = await end();

  assert.deepEqual(statuses, letIn);
  assert.deepEqual(new Set(floods), new Set([303, 429]));
});

test("a bad new password costs no hash and says nothing of the one that there is", async (t) => {
  const app = await startClosed(t);
  const cookie = await addPerson(app, "eve");
  const before = app.app.signIn.work;

  const pages: string[] = [];
  for (const password of [ownPassword, "not this one at all"])
    for (const bad of [{ chosen: "x" }, { again: "quiet marble" }, { chosen: password, again: password }]) {
      const answer = await app.post("/account/password", { ...change, password, ...bad }, { cookie });
      pages.push(`${answer.status} ${await answer.text()}`);
    }

  assert.equal(app.app.signIn.work, before);
  assert.deepEqual(pages.slice(0, 3), pages.slice(3));
});

test("who finds all places taken where a password is changed is told so, and that counts as no guess", async (t) => {
  const app = await startClosed(t);
  const [eve, jo] = [await addPerson(app, "eve"), await addPerson(app, "jo")];
  assert.ok(eve);
  const isFull = async () => {
    throw new UserError("busy", "Too many are signing in at the moment.");
  };
  const verify = Passwords.prototype.verify;
  t.after(() => {
    Passwords.prototype.verify = verify;
  });

  Passwords.prototype.verify = isFull;
  const full: number[] = [];
  for (let i = 0; i < 15; i++)
    full.push((await app.post("/account/password", change, { cookie: jo })).status);
  Passwords.prototype.verify = verify;
  const changed = await app.post("/account/password", change, { cookie: jo });

  assert.deepEqual(new Set(full), new Set([503]));
  assert.equal(changed.status, 303, await changed.text());
});

/** How many hashes end before the one of somebody who asks while others wait. */
async function endsBefore(
  others: readonly { readonly rank: number; readonly who: string }[],
  own: { readonly rank: number; readonly who: string },
): Promise<number> {
  const passwords = new Passwords((bytes) => Buffer.alloc(bytes), { ln: 10, r: 8, p: 1 });
  let ended = 0;
  const flooding = others.map((other) =>
    passwords.verify("x", undefined, other).then(
      () => ended++,
      () => {},
    ),
  );
  const before = await passwords.verify("x", undefined, own).then(() => ended);
  await Promise.all(flooding);
  return before;
}

test("however many jobs of one person wait, another's comes behind three of them at most, whoever failed less", async () => {
  const known = Array.from({ length: 19 }, () => ({ rank: -1, who: "eve" }));
  const unknown = Array.from({ length: 11 }, () => ({ rank: 0, who: "eve" }));

  const befores = await Promise.all([
    endsBefore(known, { rank: -1, who: "admin" }),
    endsBefore(unknown, { rank: 0, who: "admin" }),
    endsBefore(known.slice(0, 11), { rank: 0, who: "admin" }),
    endsBefore(unknown, { rank: 7, who: "admin" }),
  ]);

  assert.ok(Math.max(...befores) <= 3, `${befores}`);
});

test("a viewer who signs in from very many networks at once has four turns of them at a time", async (t) => {
  const { app } = await startClosed(t);
  const { signIn: service } = app;
  await app.accounts.add("eve", "viewer");
  const before = service.work;
  const from = (address: string) => ({ address, ...networksOf(address), browser: "" });

  const outcomes = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      service.signIn({ name: "eve", password: "x" }, from(`${20 + i}.7.7.7`)),
    ),
  );

  assert.equal(outcomes.filter(({ kind }) => kind === "wrong").length, 4);
  assert.equal(service.work - before, 4);
});
