import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import initSqlJs from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";
import { Connection } from "../../../src/store/database/connection.ts";
import { migrations } from "../../../src/store/database/migrations.ts";
import { openStore } from "../../../src/store/store.ts";
import { temporaryFolder } from "../../support/app.ts";
import { makeTarget, part, withManifest } from "../../support/backup/hostile-backups.ts";
import { editDatabase } from "../../support/database.ts";

const now = () => Date.UTC(2027, 0, 1);

/** A database with the schema of a version. */
async function makeDatabase(t: TestContext, version: number): Promise<{ dataDir: string; path: string }> {
  const dataDir = join(await temporaryFolder(t), "data");
  const path = join(dataDir, "platen.sqlite");
  mkdirSync(dataDir);
  const sql = await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
  const db = new Connection(new sql.Database());
  for (const migration of migrations.slice(0, version)) {
    if (typeof migration === "string") db.run(migration);
    else migration(db);
  }
  db.run(`PRAGMA user_version = ${version}`);
  writeFileSync(path, db.export());
  db.close();
  return { dataDir, path };
}

/** Statements that change the definition of a table or an index with SQLite's `writable_schema`. */
const rewriteSchema = (name: string, from: string, to: string) =>
  `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '${from}', '${to.replaceAll("'", "''")}') WHERE name = '${name}'`;

const alterations: readonly (readonly [string, RegExp])[] = [
  ["CREATE TABLE spare (id INTEGER)", /it holds “spare”, which Platen never makes/],
  ["CREATE INDEX spare ON clients (lower(notes))", /it holds “spare”/],
  ["DROP INDEX printers_by_client", /it lacks the index “printers_by_client”/],
  ["DROP TABLE icons", /it lacks the (?:index|table) “icons/],
  [
    "ALTER TABLE accounts ADD COLUMN x TEXT GENERATED ALWAYS AS (name)",
    /its table “accounts” is not as Platen makes it/,
  ],
  ["ALTER TABLE clients RENAME COLUMN notes TO remarks", /its table “clients” is not/],
  [
    rewriteSchema("accounts", "role TEXT NOT NULL", "role TEXT NOT NULL DEFAULT 'admin'"),
    /its table “accounts” is not/,
  ],
  [
    rewriteSchema("accounts", "role TEXT NOT NULL", "role TEXT NOT NULL CHECK (name <> 'x')"),
    /its table “accounts” is not/,
  ],
  [rewriteSchema("accounts", "name_key TEXT", "name_key TEXT COLLATE NOCASE"), /its table “accounts” is not/],
  [rewriteSchema("tokens", "STRICT", ""), /its table “tokens” is not/],
  [rewriteSchema("sessions", "ON DELETE CASCADE", ""), /its table “sessions” is not/],
  [
    rewriteSchema("printers_by_client", "(client_id)", "(client_id) WHERE client_id > 1"),
    /its index “printers_by_client” is not/,
  ],
  [
    `PRAGMA writable_schema = ON; INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('table', 'hidden', 'clients', 0,
      'CREATE TRIGGER hidden AFTER INSERT ON clients BEGIN UPDATE clients SET notes = ''x''; END')`,
    /it holds “hidden”|malformed/,
  ],
];

test("changed tables and indexes are refused at a start, and not changed", async (t) => {
  const { dataDir, path } = await makeDatabase(t, migrations.length);
  const sound = readFileSync(path);

  for (const [statement, message] of alterations) {
    writeFileSync(path, sound);
    await editDatabase(path, (db) => db.exec(statement));
    const bytes = readFileSync(path);
    assert.ok(!bytes.equals(sound), statement);
    await assert.rejects(
      openStore(dataDir, now, () => {}),
      message,
      statement,
    );
    assert.ok(readFileSync(path).equals(bytes), statement);
  }
});

test("a backup with a changed schema is refused before anything is replaced", async (t) => {
  const { attack } = await makeTarget(t);
  const { path } = await makeDatabase(t, migrations.length);
  const sound = readFileSync(path);

  for (const [statement, message] of alterations) {
    writeFileSync(path, sound);
    await editDatabase(path, (db) => db.exec(statement));
    const refusal = await attack(withManifest([part("platen.sqlite", readFileSync(path))]));
    assert.match(refusal, /its database is damaged/, statement);
    assert.match(refusal, message, statement);
  }
});

test("a database with a wrong version number is refused", async (t) => {
  const { dataDir, path } = await makeDatabase(t, 8);
  const sound = readFileSync(path);

  for (const version of [-1, 0, 1, 7, 9, migrations.length]) {
    writeFileSync(path, sound);
    await editDatabase(path, (db) => db.exec(`PRAGMA user_version = ${version}`));
    await assert.rejects(
      openStore(dataDir, now, () => {}),
      /it is no database of Platen’s|it holds “|it lacks the|is not as Platen makes it/,
      String(version),
    );
  }
});

for (let version = 1; version <= migrations.length; version++) {
  test(`a database of version ${version} opens`, async (t) => {
    const { dataDir, path } = await makeDatabase(t, version);

    const store = await openStore(dataDir, now, () => {});
    await store.close();
    await (await openStore(dataDir, now, () => {})).close();

    const sql = await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
    const found = new sql.Database(readFileSync(path)).exec("PRAGMA user_version")[0]?.values[0]?.[0];
    assert.equal(found, migrations.length);
  });
}
