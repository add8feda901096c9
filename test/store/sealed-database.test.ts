import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { pagesOf } from "../../src/store/database/seal.ts";
import { openStore } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/app.ts";
import { rounds } from "../support/depth.ts";

interface Saved {
  readonly dataDir: string;
  readonly path: string;
  readonly file: Buffer;
}

/** A folder with a database of one client. */
async function savedFolder(t: TestContext): Promise<Saved> {
  const dataDir = join(await temporaryFolder(t), "data");
  const store = await open(dataDir);
  await store.clients.add(parseClient({ name: "Contoso", notes: "rings twice" }));
  await store.close();
  const path = join(dataDir, "platen.sqlite");
  return { dataDir, path, file: readFileSync(path) };
}

const open = (dataDir: string) => openStore(dataDir, Date.now, () => {});

async function notesIn(dataDir: string): Promise<string[]> {
  const store = await open(dataDir);
  const notes = store.clients.list().map((client) => client.notes);
  await store.close();
  return notes;
}

/** Runs statements with Python's SQLite. @returns the rows of each statement, one line each */
function python(path: string, ...statements: string[]): string {
  const program =
    "import sqlite3,sys\ndb=sqlite3.connect(sys.argv[1],isolation_level=None)\nfor s in sys.argv[2:]: print(db.execute(s).fetchall())";
  return execFileSync("python3", ["-c", program, path, ...statements], { encoding: "utf8" });
}

test("one flipped bit anywhere stops the start, which changes nothing and says how to recover", async (t) => {
  const { dataDir, path, file } = await savedFolder(t);
  const distance = Math.floor(file.length / rounds(12, 400));

  for (let at = 20; at < pagesOf(file).length; at += distance) {
    const damaged = Buffer.from(file);
    damaged.writeUInt8(file.readUInt8(at) ^ (1 << (at % 8)), at);
    writeFileSync(path, damaged);
    await assert.rejects(
      open(dataDir),
      /cannot be read as a database .*--recover.*platen restore FILE\.tar/s,
      `${at}`,
    );
    assert.ok(readFileSync(path).equals(damaged), `${at}`);
  }
  writeFileSync(path, Buffer.from(file.toString("latin1").replace("rings twice", "rings thrice"), "latin1"));
  await assert.rejects(open(dataDir));
  writeFileSync(path, Buffer.from(file.toString("latin1").replace("rings twice", "rinks twice"), "latin1"));
  await assert.rejects(open(dataDir), /its SHA-256 is not the one that it was saved with/);
});

test("a damaged change counter alone stops the start", async (t) => {
  const { dataDir, path, file } = await savedFolder(t);
  const damaged = Buffer.from(file);
  damaged.writeUInt32BE(file.readUInt32BE(24) + 1, 24);
  writeFileSync(path, damaged);

  const opening = open(dataDir);

  await assert.rejects(opening, /its SHA-256 is not the one that it was saved with/);
});

test("a file without its last bytes stops the start", async (t) => {
  const { dataDir, path, file } = await savedFolder(t);

  for (const lost of [1, 50, 4096]) {
    writeFileSync(path, file.subarray(0, file.length - lost));
    await assert.rejects(open(dataDir), /a copy of it broke off/, `${lost}`);
  }
});

test("a database without a seal, as earlier versions and other programs write it, opens and gets a seal", async (t) => {
  const { dataDir, path, file } = await savedFolder(t);
  writeFileSync(path, pagesOf(file));

  const store = await open(dataDir);
  await store.clients.add(parseClient({ name: "Fabrikam" }));
  await store.close();

  assert.notEqual(readFileSync(path).length % 512, 0);
});

test("an older copy that was put back with cp opens", async (t) => {
  const { dataDir, path, file } = await savedFolder(t);
  const store = await open(dataDir);
  await store.clients.add(parseClient({ name: "Fabrikam", notes: "later" }));
  await store.close();

  writeFileSync(path, file);

  assert.deepEqual(await notesIn(dataDir), ["rings twice"]);
});

test("other programs read a sealed database, and their changes are accepted", async (t) => {
  const { dataDir, path, file } = await savedFolder(t);
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
    assert.deepEqual(await notesIn(dataDir), ["changed"], statements.join("; "));
  }

  assert.equal(checked, "[('ok',)]\n[('rings twice',)]\n");
  assert.ok(isUntouched);
});
