import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { pagesOf } from "../../src/store/database/seal.ts";
import { temporaryFolder } from "../support/app.ts";
import { openAt } from "../support/backup/backup.ts";

/** A folder with a database of one client. */
async function savedFolder(t: TestContext) {
  const dataDir = await temporaryFolder(t);
  const path = join(dataDir, "platen.sqlite");
  const add = async (name: string, notes: string) => {
    const store = await openAt(dataDir);
    await store.clients.add(parseClient({ name, notes }));
    await store.close();
  };
  await add("Contoso", "rings twice");
  const notes = async () => {
    const store = await openAt(dataDir);
    const found = store.clients.list().map((client) => client.notes);
    await store.close();
    return found;
  };
  return { path, file: readFileSync(path), add, notes };
}

/** Runs statements with Python's SQLite. @returns the rows of each statement, one line each */
function python(path: string, ...statements: string[]): string {
  const program =
    "import sqlite3,sys\ndb=sqlite3.connect(sys.argv[1],isolation_level=None)\nfor s in sys.argv[2:]: print(db.execute(s).fetchall())";
  return execFileSync("python3", ["-c", program, path, ...statements], { encoding: "utf8" });
}

test("a database without a seal, as earlier versions and other programs write it, opens and gets a seal", async (t) => {
  const { path, file, add } = await savedFolder(t);
  writeFileSync(path, pagesOf(file));

  await add("Fabrikam", "");

  assert.notEqual(readFileSync(path).length % 512, 0);
});

test("an older copy that was put back with cp opens", async (t) => {
  const { path, file, add, notes } = await savedFolder(t);
  await add("Fabrikam", "later");

  writeFileSync(path, file);

  assert.deepEqual(await notes(), ["rings twice"]);
});

test("other programs read a sealed database, and their changes are accepted", async (t) => {
  const { path, file, notes } = await savedFolder(t);
  const changes = [
    ["UPDATE clients SET notes = 'changed'"],
    ["UPDATE clients SET notes = 'changed'", "VACUUM"],
    ["UPDATE clients SET notes = 'changed' || hex(zeroblob(100000))", "UPDATE clients SET notes = 'changed'"],
  ];

  const checked = python(path, "PRAGMA integrity_check", "SELECT notes FROM clients");
  const isUntouched = readFileSync(path).equals(file);
  for (const statements of changes) {
    writeFileSync(path, file);
    python(path, ...statements);
    assert.deepEqual(await notes(), ["changed"], statements.join("; "));
  }

  assert.equal(checked, "[('ok',)]\n[('rings twice',)]\n");
  assert.ok(isUntouched);
});
