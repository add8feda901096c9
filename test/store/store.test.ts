import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { Database } from "../../src/store/database/database.ts";
import { lockFolder } from "../../src/store/database/lock.ts";
import { exists } from "../../src/store/durable-files.ts";
import { openStore } from "../../src/store/store.ts";
import { bundle, client, temporaryFolder } from "../support/app.ts";
import { cleanUp } from "../support/clean-up.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";
import { serve } from "../support/service.ts";

test("an acknowledged write survives a kill right after the reply", async (t) => {
  const folder = await temporaryFolder(t);

  for (let i = 0; i < 2; i++) {
    const service = await serve(t, folder);
    const { post, upload } = client(service.url);
    const answers = await Promise.all([
      post("/clients", { name: `Client ${i}` }),
      upload("/drivers/upload", driverZip({ version: `${i}.0.0.0` })),
    ]);
    service.process.kill("SIGKILL");
    await service.exited;
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
  }
  const store = await openStore(join(folder, "data"), Date.now, () => {});

  assert.deepEqual(
    store.clients.list().map(({ name }) => name),
    ["Client 0", "Client 1"],
  );
  assert.equal(store.drivers.list().length, 2);
  for (const driver of store.drivers.list())
    assert.ok(await exists(store.blobs.pathOf("drivers", driver.sha256)));
  await store.close();
});

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
  const restarted = await serve(t, folder);
  const after = await (await client(restarted.url).fetch("/clients")).text();

  assert.equal(refused?.status, 507);
  assert.match((await refused?.text()) ?? "", /The disk is full\. Nothing was saved/);
  assert.equal(health.status, 200);
  assert.ok(kept.length > 3);
  for (const text of [shown, after]) {
    for (const name of kept) assert.ok(text.includes(`>${name}<`), name);
    assert.equal(text.includes(`>Client ${kept.length}<`), false);
  }
  assert.deepEqual(
    readdirSync(join(folder, "data")).filter((name) => name.endsWith(".new")),
    [],
  );
});

test("at most one of several processes that start at once gets the folder, and a lock left by a crash never stops a start", async (t) => {
  const folder = await temporaryFolder(t);
  mkdirSync(join(folder, "data"));

  const services = await Promise.all([1, 2, 3].map(() => serve(t, folder)));
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
});

/** A process that locks a folder as a service does, and is too busy to answer. */
async function startBusy(t: TestContext, folder: string): Promise<ChildProcess> {
  const program = `require("node:net").createServer().listen("lock-ffffffffffffffff", () => {
    console.log("listening");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  })`;
  const busy = spawn(process.execPath, ["-e", program], { cwd: folder });
  cleanUp(t, () => busy.kill("SIGKILL"));
  await once(busy.stdout, "data");
  return busy;
}

test("a process that is too busy to answer keeps its lock", async (t) => {
  const folder = await temporaryFolder(t);
  await startBusy(t, folder);

  await assert.rejects(
    lockFolder(folder, () => {}),
    /Another Platen is running/,
  );
});

test("a folder whose path is too long for a socket is locked too", async (t) => {
  const folder = await temporaryFolder(t);
  const dataDir = join(folder, "d".repeat(100), "e".repeat(60));

  const first = await openStore(dataDir, Date.now, () => {});

  await assert.rejects(
    openStore(dataDir, Date.now, () => {}),
    /Another Platen is running/,
  );
  await first.close();
});

test("a newer, a damaged and an empty database stop the start and are not changed", async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, "platen.sqlite");
  const cases: [Buffer, RegExp][] = [];
  const database = await Database.open(path);
  await database.write(() => database.all("PRAGMA user_version = 99"));
  cases.push([readFileSync(path), /was written by a newer Platen \(schema 99/]);
  const damaged = readFileSync(path);
  damaged.fill(7, 100, 5000);
  cases.push(
    [damaged, /cannot be read as a database/],
    [Buffer.from("this is no database at all"), /cannot be read as a database/],
    [Buffer.alloc(0), /cannot be read as a database \(it is empty\)/],
  );

  for (const [bytes, message] of cases) {
    writeFileSync(path, bytes);
    const before = statSync(path).mtimeMs;
    await assert.rejects(Database.open(path), message);
    assert.ok(readFileSync(path).equals(bytes));
    assert.equal(statSync(path).mtimeMs, before);
  }
});

test("concurrent writes are done in order, and a failing one does not affect the others", async (t) => {
  const folder = await temporaryFolder(t);
  const store = await openStore(folder, Date.now, () => {});

  const results = await Promise.allSettled([
    ...Array.from({ length: 50 }, (_, i) => store.clients.add(parseClient({ name: `C${i}` }))),
    store.clients.add(parseClient({ name: "c7" })),
  ]);

  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 50);
  assert.equal(store.clients.count(), 50);
  await store.close();
  const restarted = await openStore(folder, Date.now, () => {});
  assert.equal(restarted.clients.count(), 50);
  await restarted.close();
});

test("a refused first write leaves the saved content", async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, "platen.sqlite");
  const first = await Database.open(path);
  const insert = (name: string) =>
    `INSERT INTO clients (name, name_key, notes, created_at) VALUES ('${name}', '${name}', '', 0)`;
  await first.write(() => first.all(insert("kept")));
  first.close();

  const second = await Database.open(path);
  await watchDisk(t, folder, ({ name }) => {
    if (name === "rename") throw new Error("refused");
    return undefined;
  });
  await assert.rejects(
    second.write(() => second.all(insert("lost"))),
    /refused/,
  );

  assert.deepEqual(second.all("SELECT name FROM clients"), [{ name: "kept" }]);
});

test("foreign keys are enforced after a save too", async (t) => {
  const folder = await temporaryFolder(t);
  const database = await Database.open(join(folder, "platen.sqlite"));
  await database.write(() =>
    database.all("INSERT INTO clients (name, name_key, notes, created_at) VALUES ('A', 'a', '', 0)"),
  );

  const insert =
    "INSERT INTO printers (created_at, updated_at, client_id, name, settings) VALUES (0, 0, 99, 'x', '{}')";

  await assert.rejects(
    database.write(() => database.all(insert)),
    /FOREIGN KEY/,
  );
});

test("the secret is made once and only its owner may read it", async (t) => {
  const folder = await temporaryFolder(t);
  const first = await openStore(folder, Date.now, () => {});
  await first.close();
  const second = await openStore(folder, Date.now, () => {});
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
