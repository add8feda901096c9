import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/domain/errors.ts";
import { Passwords } from "../../../src/services/access/passwords.ts";
import { addPerson, adminPassword, ownPassword, signIn, startClosed } from "../../support/access/people.ts";
import type { TestApp } from "../../support/app.ts";

const change = { password: ownPassword, chosen: "quiet marble sunrise", again: "quiet marble sunrise" };

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

/** The statuses of four sign-ins of the administrator, two of them in a known browser. */
async function adminSignInStatuses(app: TestApp, known: string): Promise<number[]> {
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
  test(`a viewer who sends ${what} from seven browsers at once does not keep the administrator out`, async (t) => {
    const app = await startClosed(t);
    const known = await signIn(app, "admin", adminPassword);
    await addPerson(app, "eve");
    const cookies: string[] = [];
    for (let i = 0; i < 7; i++) cookies.push(await signIn(app, "eve", ownPassword));

    const end = flood(21, (i) => app.post("/account/password", form, { cookie: cookies[i % 7] ?? "" }));
    const statuses = await adminSignInStatuses(app, known);
    const floods = await end();

    assert.deepEqual(statuses, letIn);
    assert.ok(floods.length > 21 && !floods.includes(503), `${[...new Set(floods)]}`);
  });
}

test("twenty people behind one address can sign in simultaneously in new browsers", async (t) => {
  const app = await startClosed(t);
  const people: { readonly name: string; readonly password: string }[] = [];
  for (let i = 0; i < 20; i++) {
    const name = `technician-${i}`;
    const { password, hash } = await app.app.passwords.makeOneTime();
    await app.app.store.accounts.add(name, "operator", hash);
    people.push({ name, password });
  }

  const answers = await Promise.all(people.map((person) => app.post("/sign-in", person)));

  assert.deepEqual(
    answers.map(({ status }) => status),
    people.map(() => 303),
  );
});

test("one person can sign in twenty times simultaneously, also after wrong passwords", async (t) => {
  const app = await startClosed(t);
  for (let i = 0; i < 4; i++) await app.post("/sign-in", { name: "admin", password: "not this one" });

  const answers = await Promise.all(
    Array.from({ length: 20 }, () => app.post("/sign-in", { name: "admin", password: adminPassword })),
  );

  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([303]));
});

test("during a flood of guesses from one network, other requests and known browsers are answered", async (t) => {
  const app = await startClosed(t);
  const known = await signIn(app, "admin", adminPassword);
  const before = app.app.passwords.hashCount;

  const end = flood(60, (i) => app.post("/sign-in", { name: `guess ${i}`, password: "not this one at all" }));
  const served: number[] = [];
  for (let i = 0; i < 5; i++) {
    served.push((await app.fetch("/health")).status);
    served.push((await app.fetch("/clients", { headers: { cookie: known } })).status);
    const signedIn = await app.post(
      "/sign-in",
      { name: "admin", password: adminPassword },
      { cookie: known.split("; ")[1] ?? "" },
    );
    served.push(signedIn.status);
  }
  const floods = await end();

  assert.deepEqual(new Set(served), new Set([200, 303]));
  assert.deepEqual(new Set(floods.filter((status) => status !== 503)), new Set([422, 429]));
  assert.ok(app.app.passwords.hashCount - before <= 7 + 5, `${app.app.passwords.hashCount - before} hashes`);
});

test("a flood of guesses from a hundred networks does not keep known browsers out", async (t) => {
  const app = await startClosed(t);
  const known = await signIn(app, "admin", adminPassword);
  const adminCredentials = { name: "admin", password: adminPassword };

  const strangers = Array.from({ length: 100 }, (_, i) => `10.0.${i}.1`);
  const guesses = Promise.allSettled(
    strangers.map((address) => app.app.passwords.verify("not this one", undefined, () => {}, address)),
  );
  const laterSignIn = await app.post("/sign-in", adminCredentials, { cookie: known.split("; ")[1] ?? "" });
  const refused = (await guesses).filter(({ status }) => status === "rejected");

  assert.equal(laterSignIn.status, 303);
  assert.equal(refused.length, 36);
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
  const [eve, jo] = [await addPerson(app, "eve"), await addPerson(app, "jo")];
  assert.ok(eve);
  const isFull = async () => {
    throw new UserError("busy", "Too many sign-ins at the moment.");
  };
  const verify = Passwords.prototype.verify;
  t.after(() => {
    Passwords.prototype.verify = verify;
  });

  Passwords.prototype.verify = isFull;
  const full: (string | number | null)[] = [];
  for (let i = 0; i < 15; i++) {
    full.push((await app.post("/account/password", change, { cookie: jo })).status);
    const { status, headers } = await app.post("/sign-in", { name: "jo", password: ownPassword });
    full.push(status, headers.get("retry-after"));
  }
  Passwords.prototype.verify = verify;
  await signIn(app, "jo", ownPassword);
  const changed = await app.post("/account/password", change, { cookie: jo });

  assert.deepEqual(new Set(full), new Set([503, "5"]));
  assert.equal(changed.status, 303, await changed.text());
});
