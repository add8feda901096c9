import assert from "node:assert/strict";
import { test } from "node:test";
import { Once } from "../src/services/once.ts";
import { startGuarded } from "./support/guarded.ts";
import { addPerson, signInAdmin, startClosed } from "./support/people.ts";

function onceIn(page: string): string {
  const once = /name="once" value="([\w-]{16})"/.exec(page)?.[1];
  assert.ok(once !== undefined, "the form has no one-time value");
  return once;
}

test("a form for a token that is sent again makes no second one", async (t) => {
  const { admin, service } = await startGuarded(t);
  const once = onceIn(await (await admin.fetch("/tokens")).text());
  const form = { name: "Datto", scope: "read", days: "30", once };

  const first = await admin.post("/tokens", form);
  const [again, atOnce] = await Promise.all([admin.post("/tokens", form), admin.post("/tokens", form)]);
  const said = await (await admin.fetch(again.headers.get("location") ?? "")).text();

  assert.match(await first.text(), /platen_\w{39}/);
  assert.deepEqual([again.status, atOnce.status], [303, 303]);
  assert.match(said, /no second token was made/);
  assert.doesNotMatch(said, /platen_\w{39}/);
  assert.equal(service.app.store.tokens.list().length, 1);
});

test("three tabs that open the form at once make a token each", async (t) => {
  const { admin, service } = await startGuarded(t);
  const open = async () => onceIn(await (await admin.fetch("/tokens")).text());
  const names = await Promise.all([open(), open(), open()]);

  const made = await Promise.all(
    names.map((once, i) => admin.post("/tokens", { name: `Tab ${i}`, scope: "read", once })),
  );

  assert.deepEqual(
    made.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal(service.app.store.tokens.list().length, 3);
});

test("two tabs that open the form for a one-time password at once can each send theirs", async (t) => {
  const app = await startClosed(t);
  await addPerson(app, "jo");
  const headers = { cookie: await signInAdmin(app) };
  const open = async () => onceIn(await (await app.fetch("/accounts/2", { headers })).text());

  const [first, second] = await Promise.all([open(), open()]);
  const passwords: (string | undefined)[] = [];
  for (const once of [first, second]) {
    const page = await (await app.post("/accounts/2/password", { once }, headers)).text();
    passwords.push(/id="one-time-password">([a-z0-9-]+)</.exec(page)?.[1]);
  }

  assert.ok(!passwords.includes(undefined));
  assert.notEqual(passwords[0], passwords[1]);
});

test("a form for a token that was refused can be sent again", async (t) => {
  const { admin, service } = await startGuarded(t);
  const once = onceIn(await (await admin.fetch("/tokens")).text());

  const refused = await admin.post("/tokens", { name: "", scope: "read", once });
  const made = await admin.post("/tokens", { name: "Datto", scope: "read", once });

  assert.deepEqual([refused.status, made.status, service.app.store.tokens.list().length], [422, 200, 1]);
});

test("a form for a one-time password that is sent again makes no second one", async (t) => {
  const app = await startClosed(t);
  await addPerson(app, "jo");
  const headers = { cookie: await signInAdmin(app) };
  const once = onceIn(await (await app.fetch("/accounts/2", { headers })).text());
  const reset = () => app.post("/accounts/2/password", { once }, headers);

  const first = await (await reset()).text();
  const again = await reset();

  const password = /id="one-time-password">([a-z0-9-]+)</.exec(first)?.[1] ?? "";
  const signedIn = await app.post("/sign-in", { name: "jo", password });
  assert.deepEqual([again.status, again.headers.get("location")], [303, "/accounts/2?done=again"]);
  assert.equal(signedIn.headers.get("location"), "/sign-in/password");
});

test("forms that were sent are remembered up to a bound", async () => {
  const once = new Once((bytes) => Buffer.alloc(bytes));
  const names = Array.from({ length: 501 }, (_, i) => `form-${i}`.padEnd(16, "-"));

  for (const name of names) await once.make(name, async () => true);
  const [newest, oldest] = [names.at(-1), names[0]];
  const again = [await once.make(newest, async () => true), await once.make(oldest, async () => true)];

  assert.deepEqual(again, [undefined, true]);
});
