import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startClosed } from "../support/access/people.ts";
import { navigation, startApp, temporaryFolder } from "../support/app.ts";

test("the backups page lists backups with their contents and makes a new one", async (t) => {
  const { app, fetch, post, lines } = await startApp(t);
  await post("/clients", { name: "Contoso" });

  const before = await (await fetch("/backups")).text();
  const made = await post("/backups", {}, navigation);
  const after = await (await fetch(made.headers.get("location") ?? "")).text();
  const again = await post("/backups", {}, navigation);
  const fragment = await (await post("/backups", {}, { "hx-request": "true" })).text();

  assert.match(before, /Platen makes the first backup one minute after the first change/);
  assert.match(before, /The latest backup does not contain the latest changes/);
  assert.equal(made.headers.get("location"), "/backups?done=new");
  assert.match(after, /Backup created and verified/);
  assert.match(after, /1 client, 0 drivers, 0 printers/);
  assert.match(after, /The latest backup is up to date/);
  assert.match(after, /Next backup: <time datetime="2026-11-22T00:00:00\.000Z">/);
  assert.match(after, /href="\/help\/backup#restore"/);
  assert.equal(again.headers.get("location"), "/backups?done=same");
  assert.match(fragment, /Nothing changed since/);
  assert.equal(app.backups.list().length, 1);
  assert.deepEqual(lines, []);
});

test("a backup is downloaded unchanged, also in ranges, and only by the name of an existing backup", async (t) => {
  const { app, fetch, post, dataDir } = await startApp(t);
  await post("/clients", { name: "Contoso" });
  await app.backups.makeNow();
  const [{ name } = { name: "" }] = app.backups.list();

  const whole = await fetch(`/backups/${name}`);
  const bytes = Buffer.from(await whole.arrayBuffer());
  const some = await fetch(`/backups/${name}`, { headers: { range: "bytes=0-15" } });
  const others = ["platen.sqlite", `${name}.json`, "..%2Fsecret", "..%2Fplaten.sqlite", "files", "%00"];
  const refused = await Promise.all(others.map(async (other) => (await fetch(`/backups/${other}`)).status));

  assert.ok(bytes.equals(readFileSync(join(dataDir, "platen.sqlite"))));
  assert.match(
    whole.headers.get("content-disposition") ?? "",
    /filename="platen-2026-11-21T140500\.000Z-1-asked\.sqlite"/,
  );
  assert.deepEqual([some.status, await some.text()], [206, "SQLite format 3\0"]);
  assert.deepEqual(
    refused,
    others.map(() => 404),
  );
});

test("the page shows the size of files that only backups need, and a button deletes them", async (t) => {
  const { app, fetch, post, addDriver } = await startApp(t);
  const id = await addDriver();
  await app.backups.makeNow();
  await fetch(`/drivers/${id}`, { method: "DELETE" });
  for (const deletion of app.undo.list()) await post(`/deletions/${deletion.id}/delete`, {});

  const before = await (await fetch("/backups")).text();
  const answer = await post("/backups/files/delete", {}, navigation);
  const after = await (await fetch("/backups")).text();

  assert.match(before, /Older backups need 1 file of deleted records \([\d.]+ (?:bytes|KB)\)\./);
  assert.equal(answer.headers.get("location"), "/backups?done=files");
  assert.doesNotMatch(after, /Files of deleted records/);
});

test("with BACKUPS=0 the page says so and has no button", async (t) => {
  const { fetch, post } = await startApp(t, { backups: 0 });

  const page = await (await fetch("/backups")).text();
  const refused = await post("/backups", {}, navigation);

  assert.match(page, /Daily backups are turned off \(BACKUPS=0\)/);
  assert.doesNotMatch(page, /Back up now/);
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /turned off \(BACKUPS=0\)/);
});

test("after sign-in is switched off, backups with password hashes cannot be downloaded", async (t) => {
  const dataDir = await temporaryFolder(t);
  const closed = await startClosed(t, { dataDir });
  await closed.app.backups.makeNow();
  const [{ name } = { name: "" }] = closed.app.backups.list();
  await closed.stop();
  const { fetch } = await startApp(t, { dataDir });

  const answer = await fetch(`/backups/${name}`);

  assert.equal(answer.status, 403);
  assert.match(await answer.text(), /contain password hashes/);
});
