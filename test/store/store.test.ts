import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { Database } from "../../src/store/database/database.ts";
import { lockFolder } from "../../src/store/database/lock.ts";
import { pagesOf } from "../../src/store/database/seal.ts";
import { bundle, client, temporaryFolder } from "../support/app.ts";
import { openAt } from "../support/backup/backup.ts";
import { cleanUp } from "../support/clean-up.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";
import { serve } from "../support/service.ts";

test("a full disk is reported and changes nothing, and the database stays readable", {
  skip: process.platform === "win32" && "no ulimit here",
}, async (t) => {
  const folder = await temporaryFolder(t);
  const limited = await serve(t, folder, {}, "ulimit -f 256");
  const { post, fetch } = client(limited.url);
  const kept: string[] = [];
  let refused: Response | undefined;

  for (let i = 0; i < 60 && refused === undefined; i++) {
    const answer = await post("/clients", { name: `Client ${i}`, notes: "n".repeat(9000) });
    if (answer.status === 200) kept.push(`Client ${i}`);
    else refused = answer;
  }
  const shown = await (await fetch("/clients")).text();
  const health = await fetch("/health");
  limited.process.kill("SIGKILL");
  await limited.exited;
  const restarted = await openAt(join(folder, "data"));
  const after = restarted.clients.list().map(({ name }) => name);
  await restarted.close();

  assert.equal(refused?.status, 507);
  assert.match((await refused?.text()) ?? "", /The disk is full\. Nothing was saved/);
  assert.equal(health.status, 200);
  assert.ok(kept.length > 3);
  for (const name of kept) assert.ok(shown.includes(`>${name}<`), name);
  assert.equal(shown.includes(`>Client ${kept.length}<`), false);
  assert.deepEqual(after, kept);
  assert.ok(readdirSync(join(folder, "data")).every((name) => !name.endsWith(".new")));
});

deepTest(
  "at most one of several processes that start at once gets the folder, and a lock left by a crash never stops a start",
  async (t) => {
    const folder = await temporaryFolder(t);
    mkdirSync(join(folder, "data"));

    const services = await Promise.all(Array.from({ length: rounds(2, 3) }, () => serve(t, folder)));
    const winners = services.filter(({ url }) => url !== "");
    const refused = services.filter(({ url }) => url === "");
    const codes = await Promise.all(refused.map(({ exited }) => exited));
    const holder = winners[0] ?? (await serve(t, folder));
    holder.process.kill("SIGKILL");
    await holder.exited;
    const later = await serve(t, folder);

    assert.ok(winners.length <= 1, services.map(({ output }) => output()).join("\n"));
    assert.ok(codes.every((code) => code === 1));
    for (const { output } of refused) assert.match(output(), /Another Platen is running on .*data/);
    assert.equal(readdirSync(join(folder, "data")).filter((name) => name.startsWith("lock-")).length, 1);
    assert.equal((await client(later.url).fetch("/health")).status, 200);
  },
);

test("a process that is too busy to answer keeps its lock", async (t) => {
  const folder = await temporaryFolder(t);
  const program = `require("node:net").createServer().listen("lock-ffffffffffffffff", () => {
    console.log("listening");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  })`;
  const busy = spawn(process.execPath, ["-e", program], { cwd: folder });
  cleanUp(t, () => busy.kill("SIGKILL"));
  await once(busy.stdout, "data");

  const locking = lockFolder(folder, () => {});

  await assert.rejects(locking, /Another Platen is running/);
});

test("a folder whose path is too long for a socket is locked too", async (t) => {
  const folder = await temporaryFolder(t);
  const dataDir = join(folder, "d".repeat(100), "e".repeat(60));

  const first = await openAt(dataDir);

  await assert.rejects(openAt(dataDir), /Another Platen is running/);
  await first.close();
});

test("concurrent writes are done in order, and a failing one does not affect the others", async (t) => {
  const folder = await temporaryFolder(t);
  const store = await openAt(folder);

  const results = await Promise.allSettled([
    ...Array.from({ length: 50 }, (_, i) => store.clients.add(parseClient({ name: `C${i}` }))),
    store.clients.add(parseClient({ name: "c7" })),
  ]);

  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 50);
  assert.equal(store.clients.count(), 50);
  await store.close();
  const restarted = await openAt(folder);
  assert.equal(restarted.clients.count(), 50);
  await restarted.close();
});

const insert = (db: Database, name: string) =>
  db.write(() =>
    db.all("INSERT INTO clients (name, name_key, notes, created_at) VALUES (?, ?, '', 0)", [name, name]),
  );

test("a refused first write leaves the saved content", async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, "platen.sqlite");
  const first = await Database.open(path);
  await insert(first, "kept");
  first.close();

  const second = await Database.open(path);
  await watchDisk(t, folder, ({ name }) => {
    if (name === "rename") throw new Error("refused");
    return undefined;
  });
  await assert.rejects(insert(second, "lost"), /refused/);

  assert.deepEqual(second.all("SELECT name FROM clients"), [{ name: "kept" }]);
});

test("foreign keys are enforced after a save too", async (t) => {
  const database = await Database.open(join(await temporaryFolder(t), "platen.sqlite"));
  await insert(database, "A");

  const writing = database.write(() =>
    database.all(
      "INSERT INTO printers (created_at, updated_at, client_id, name, settings) VALUES (0, 0, 99, 'x', '{}')",
    ),
  );

  await assert.rejects(writing, /FOREIGN KEY/);
});

test("the secret is made once and only its owner may read it", async (t) => {
  const folder = await temporaryFolder(t);
  const first = await openAt(folder);
  await first.close();
  const second = await openAt(folder);
  await second.close();

  assert.deepEqual(first.secret, second.secret);
  assert.equal(first.secret.length, 32);
  if (process.platform !== "win32") assert.equal(statSync(join(folder, "secret")).mode & 0o777, 0o600);
});

test("a start on a folder of another user says which user needs it", {
  skip: process.getuid?.() !== 0 && "needs root to become somebody else",
}, async (t) => {
  const folder = await temporaryFolder(t);
  const child = spawn(process.execPath, [bundle], {
    cwd: folder,
    uid: 65534,
    gid: 65534,
    env: { DATA_DIR: join(folder, "data"), PORT: "0" },
  });
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
  });

  const code = await new Promise((resolve) => child.on("exit", resolve));

  assert.equal(code, 1);
  assert.match(
    text,
    /cannot be written \(EACCES\)\. Platen runs as user 65534, group 65534: give the folder to it \(chown -R 65534:65534\)/,
  );
});

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
