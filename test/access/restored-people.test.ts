import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { addPerson, signInAdmin, startClosed } from "../support/access/people.ts";
import { temporaryFolder } from "../support/app.ts";
import { runPlaten } from "../support/backup/backup.ts";
import { editDatabase } from "../support/database.ts";

test("a restore lists the accounts and tokens that it restores, without control characters from their names", async (t) => {
  const folder = await temporaryFolder(t);
  const [dataDir, file] = [join(folder, "data"), join(folder, "all.tar")];
  const app = await startClosed(t, { dataDir, clock: Date.now });
  const cookie = await signInAdmin(app);
  await addPerson(app, "jo", "operator");
  await addPerson(app, "left", "viewer");
  await app.post("/accounts/3/disable", {}, { cookie });
  await app.addPrinter().catch(() => {});
  for (const [name, days] of [
    ["Datto", "30"],
    ["Old", "30"],
  ] as const)
    await app.post("/tokens", { name, scope: "read", days }, { cookie });
  await app.stop();
  await editDatabase(join(dataDir, "platen.sqlite"), (db) => {
    db.exec("UPDATE tokens SET expires_at = 1 WHERE name = 'Old'");
    db.run("UPDATE accounts SET name = ? WHERE name = 'jo'", ["jo\u001b[2J\nadmin"]);
  });
  runPlaten(dataDir, "backup", file);

  const { status, stderr } = runPlaten(join(folder, "other"), "restore", file);

  assert.equal(status, 0, stderr);
  const lines = stderr.split("\n").filter((line) => line.startsWith("  "));
  const until = new Date(Date.now() + 30 * 24 * 60 * 60_000).toISOString().slice(0, 10);
  assert.deepEqual(lines, [
    "  account “admin”, admin",
    "  account “jo[2Jadmin”, operator",
    `  token “Datto”, read access to everything, until ${until}`,
  ]);
});

test("a restore reports that nobody can sign in where all accounts are disabled", async (t) => {
  const folder = await temporaryFolder(t);
  const [dataDir, file] = [join(folder, "data"), join(folder, "all.tar")];
  const app = await startClosed(t, { dataDir });
  await addPerson(app, "left", "viewer");
  await app.stop();
  await editDatabase(join(dataDir, "platen.sqlite"), (db) => db.exec("UPDATE accounts SET disabled = 1"));
  runPlaten(dataDir, "backup", file);

  const { status, stderr } = runPlaten(join(folder, "other"), "restore", file);

  assert.equal(status, 0, stderr);
  assert.match(stderr, /These have access:\n {2}no account and no token\n/);
});
