import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { verifyAudit } from "../../src/store/audit/verify.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { entriesIn, logEntries, logFiles } from "../support/audit/audit.ts";
import { download, downloadCounts } from "../support/audit/counted.ts";
import { editDatabase } from "../support/database.ts";

const clock = () => Date.UTC(2026, 10, 22);
const open = (dataDir: string, lines: string[] = []) => openStore(dataDir, clock, (line) => lines.push(line));
const addClients = (store: Store, names: readonly string[]) =>
  Promise.all(names.map((name) => store.clients.add(parseClient({ name }))));
const namesIn = (dataDir: string) => entriesIn(dataDir).map(({ record }) => record?.name);

/** A folder as after a kill: four changes are saved, and the first `written` of them are in the log. */
async function killedFolder(t: TestContext, written: number): Promise<string> {
  const dataDir = await temporaryFolder(t);
  const store = await open(dataDir);
  await addClients(store, ["A", "B"]);
  await store.audit.flush();
  const before = readFileSync(join(dataDir, "platen.sqlite"));
  await addClients(store, ["C", "D", "E", "F"]);
  const saved = readFileSync(join(dataDir, "platen.sqlite"));
  await store.audit.flush();
  const [log = ""] = logFiles(dataDir);
  const lines = readFileSync(log, "utf8").split("\n");
  await store.close();
  writeFileSync(join(dataDir, "platen.sqlite"), saved);
  const kept = lines.slice(0, 2 + written);
  writeFileSync(log, kept.map((line) => `${line}\n`).join(""));
  assert.notDeepEqual(before, saved);
  return dataDir;
}

for (const [what, written, harm] of [
  ["lacks four saved changes", 0, undefined],
  ["lacks one of four saved changes", 3, undefined],
  ["has all saved changes", 4, undefined],
  [
    "ends with a line filled with zeros",
    3,
    (bytes: Buffer) => bytes.fill(0, bytes.length - 40, bytes.length - 1),
  ],
  ["ends with an incomplete line", 3, (bytes: Buffer) => bytes.subarray(0, -40)],
  ["ends with zeros", 4, (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(5000)])],
] as const)
  test(`after a kill or power cut, when the log ${what}, each change is logged once, and the log is whole`, async (t) => {
    const dataDir = await killedFolder(t, written);
    const [log = ""] = logFiles(dataDir);
    if (harm !== undefined) writeFileSync(log, harm(readFileSync(log)));

    const torn = await verifyAudit(dataDir);
    const store = await open(dataDir);
    await store.close();

    const entries = entriesIn(dataDir);
    const moved = readdirSync(join(dataDir, "audit")).filter((name) => name.startsWith("behind-"));
    if (what === "ends with an incomplete line")
      assert.deepEqual([torn.isTorn, torn.broken], [true, undefined]);
    const names = entries.flatMap(({ record }) => record?.name ?? []);
    assert.deepEqual(names, ["A", "B", "C", "D", "E", "F"]);
    const mended = entries.filter(({ event }) => event.startsWith("log-")).map(({ event }) => event);
    assert.deepEqual(mended, harm === undefined ? [] : ["log-mended"]);
    assert.equal(moved.length, mended.length);
    assert.equal((await verifyAudit(dataDir)).broken, undefined);
  });

test("an older or a new database beside a newer log appends to it", async (t) => {
  const dataDir = await temporaryFolder(t);
  const path = join(dataDir, "platen.sqlite");
  const addWhileOpen = async (...names: string[]) => {
    const store = await open(dataDir);
    for (const name of names) await addClients(store, [name]);
    await store.close();
  };
  await addWhileOpen("A");
  const older = readFileSync(path);
  await addWhileOpen("B", "C", "D");

  writeFileSync(path, older);
  await addWhileOpen("E", "F");
  rmSync(path);
  await addWhileOpen("G");

  assert.deepEqual(namesIn(dataDir), ["A", "B", "C", "D", "E", "F", "G"]);
  assert.equal(entriesIn(dataDir).at(-1)?.seq, 7);
  assert.equal((await verifyAudit(dataDir)).broken, undefined);
});

test("when the log cannot be written, changes succeed and are logged later", async (t) => {
  const dataDir = await temporaryFolder(t);
  const lines: string[] = [];
  const store = await open(dataDir, lines);
  writeFileSync(join(dataDir, "audit"), "a file where the folder should be");

  await addClients(store, ["A", "B"]);
  await store.audit.flush();
  rmSync(join(dataDir, "audit"));
  await addClients(store, ["C"]);
  await store.audit.flush();
  await store.close();

  assert.match(lines.join("\n"), /^warning: the audit log cannot be written:.*$/);
  assert.deepEqual(namesIn(dataDir), ["A", "B", "C"]);
});

test("names and values with line breaks, markup or JSON stay plain text in their lines", async (t) => {
  const app = await startApp(t);
  const name = 'A"}\n{"seq":99,"hash":"\u2028</script><img src=x>';
  await app.post("/clients", { name, notes: "x".repeat(4000) });

  const [entry] = await logEntries(app, "created");
  await app.stop();

  assert.equal(entry?.record?.name, name.replace("\n", ""));
  assert.ok(String(entry?.fields?.find(({ name }) => name === "notes")?.to).length < 600);
  assert.equal((await verifyAudit(app.dataDir)).broken, undefined);
});

test("downloads after the last save of counts are counted once at the next start", async (t) => {
  const dataDir = await temporaryFolder(t);
  const app = await startApp(t, { dataDir });
  const printer = await app.addPrinter();
  await download(app, `/printers/${printer}/scripts/install`);
  await app.app.deployments.flush();
  for (let i = 0; i < 3; i++) await download(app, `/printers/${printer}/scripts/install`);
  await app.app.store.audit.flush();
  const killed = readFileSync(join(dataDir, "platen.sqlite"));
  await app.stop();
  writeFileSync(join(dataDir, "platen.sqlite"), killed);

  const restarted = await startApp(t, { dataDir });
  const first = await downloadCounts(restarted, printer);
  await restarted.stop();
  const third = await startApp(t, { dataDir });

  const last = await downloadCounts(third, printer);
  assert.deepEqual([...first, ...last], ["install script 4", "install script 4"]);
  assert.ok(third.app.deployments.lastDeployed(printer));
});

test("a database with invalid places or changes is refused, and the log stays", async (t) => {
  const whole = await temporaryFolder(t);
  const first = await open(whole);
  await addClients(first, ["A"]);
  await first.close();
  const log = readFileSync(logFiles(whole)[0] ?? "");
  const edits = [
    "UPDATE audit_places SET file = '../../etc/passwd' WHERE name = 'head'",
    "UPDATE audit_places SET hash = 'x'",
    "UPDATE audit_places SET size = -1",
    "INSERT INTO changes VALUES (7, 7, '{}')",
    "INSERT INTO changes VALUES (7, 9, 'no text that was packed')",
  ];
  for (const statement of edits) {
    const dataDir = await temporaryFolder(t);
    cpSync(whole, dataDir, { recursive: true });
    await editDatabase(join(dataDir, "platen.sqlite"), (db) => db.run(statement));

    await assert.rejects(open(dataDir), /cannot be read as a database/);

    assert.deepEqual(readFileSync(logFiles(dataDir)[0] ?? ""), log);
    assert.equal(existsSync(join(dataDir, "audit", "passwd")), false);
  }
});
